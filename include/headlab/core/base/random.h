// Random numbers without state. A `Key` names a stream: fold in what the numbers are for (seed,
// purpose, step, layer, example ...) and the same key always gives the same numbers. Only the step
// has to be saved, and no result depends on the order of draws. Bits: Philox4x32-10 (Salmon et al.
// 2011, "Parallel random numbers: as easy as 1, 2, 3"). The distributions are our own, because
// those of the standard library differ between implementations. Read next: src/core/base/random.cc.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace headlab {

/// Returns 128 random bits for each (key, counter): the block cipher Philox4x32-10. Word i of the
/// counter and of the result is bits [32 i, 32 i + 32). Defined in the header because dropout calls
/// it in hot loops.
constexpr std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low,
                                              std::uint64_t counter_high = 0) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  std::uint32_t k0 = low(key), k1 = high(key);
  std::uint32_t c0 = low(counter_low), c1 = high(counter_low);
  std::uint32_t c2 = low(counter_high), c3 = high(counter_high);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c0;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c2;
    c0 = high(p1) ^ c1 ^ k0;
    c1 = low(p1);
    c2 = high(p0) ^ c3 ^ k1;
    c3 = low(p0);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

/// The name of a random stream.
struct Key {
  std::uint64_t value = 0;

  /// Returns the key of a sub-stream: different data give independent numbers. The order of folds
  /// matters, and fold(0) is another stream than no fold.
  Key fold(std::uint64_t data) const;
  Key fold(std::string_view purpose) const;

  friend bool operator==(const Key&, const Key&) = default;
};

/// Draws from one stream, in order. Copying copies the position.
class Generator {
 public:
  explicit Generator(Key key) : key_(key) {}

  std::uint32_t bits();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform integer in [0, n), exactly (no modulo bias). Error if n < 1.
  std::int64_t below(std::int64_t n);
  /// Uniform integer in [low, high], both included.
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  /// Normal(0, 1), Box-Muller.
  double normal();

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[below(static_cast<std::int64_t>(i))]);
    }
  }

 private:
  Key key_;
  std::uint64_t counter_ = 0, left_ = 0;   // index of the next block; words not yet drawn
  std::array<std::uint32_t, 32> words_{};  // of eight blocks, which are computed together
};

}  // namespace headlab
