// Streams and distributions based on Philox (random.h). Keys are folded with the cipher itself: for
// a given key it permutes the counters, so different data give different, unrelated keys. The upper
// half of the counter states the purpose of a block, so that no drawn number is ever also a key.
#include "headlab/core/base/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "headlab/core/base/error.h"

namespace headlab {
namespace {

// Upper halves of the counter; for drawn numbers it is 0. Text adds its length to the low bits.
constexpr std::uint64_t kFoldNumber = std::uint64_t{1} << 62;
constexpr std::uint64_t kFoldText = std::uint64_t{2} << 62;

std::uint64_t two_words(std::uint32_t low, std::uint32_t high) {
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

Key mixed(Key key, std::uint64_t data, std::uint64_t purpose) {
  const auto block = philox(key.value, data, purpose);
  return Key{two_words(block[0], block[1])};
}

}  // namespace

Key Key::fold(std::uint64_t data) const { return mixed(*this, data, kFoldNumber); }

Key Key::fold(std::string_view purpose) const {
  Key key = *this;
  std::size_t at = 0;
  do {  // eight characters at a time; at least once, so that "" is also a fold
    std::uint64_t data = 0;
    for (std::size_t i = at; i < std::min(at + 8, purpose.size()); ++i) {
      data = (data << 8) | static_cast<unsigned char>(purpose[i]);
    }
    key = mixed(key, data, kFoldText | purpose.size());
    at += 8;
  } while (at < purpose.size());
  return key;
}

std::uint32_t Generator::bits() {
  if (left_ == 0) {
    for (std::size_t i = 0; i < words_.size(); i += 4) {
      const auto block = philox(key_.value, counter_++);
      for (std::size_t word = 0; word < 4; ++word) words_[i + word] = block[word];
    }
    left_ = words_.size();
  }
  return words_[words_.size() - left_--];
}

double Generator::uniform() {
  const std::uint32_t low = bits(), high = bits();
  return static_cast<double>(two_words(low, high) >> 11) * 0x1p-53;
}

std::int64_t Generator::below(std::int64_t n) {
  require(n >= 1, "cannot draw a number below n: n must be at least 1, got ", n);
  const std::uint64_t last = static_cast<std::uint64_t>(n) - 1;
  const std::uint64_t mask = last == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(last);
  for (;;) {  // each draw is accepted with probability 1/2 or more
    const std::uint32_t low = bits();
    const std::uint32_t high = mask >> 32 != 0 ? bits() : 0;
    const std::uint64_t draw = two_words(low, high) & mask;
    if (draw <= last) return static_cast<std::int64_t>(draw);
  }
}

double Generator::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));  // 1 - u is never 0
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace headlab
