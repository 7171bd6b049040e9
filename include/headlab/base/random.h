// Random numbers without state. A `Key` names a stream: fold in what the numbers are for (seed, purpose,
// step, module, example ...) and the same key always gives the same numbers, so there is nothing to save
// but the step, and no result depends on who drew first. Bits: Philox4x32-10 (Salmon et al. 2011,
// "Parallel random numbers: as easy as 1, 2, 3"). The distributions are our own, because those of the
// standard library differ between implementations.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace headlab {

/// The Philox4x32-10 block cipher: 128 random bits for each (key, counter).
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low,
                                    std::uint64_t counter_high = 0);

/// The name of a random stream.
struct Key {
  std::uint64_t value = 0;

  /// The key of a sub-stream: different data, independent numbers.
  Key fold(std::uint64_t data) const;
  Key fold(std::string_view purpose) const;
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
      std::swap(items[i - 1], items[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    }
  }

 private:
  Key key_;
  std::uint64_t counter_ = 0;
  std::array<std::uint32_t, 4> block_{};
  unsigned left_ = 0;
};

}  // namespace headlab
