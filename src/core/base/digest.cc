// Two hashes of bytes (digest.h): FNV-1a as published, and a fast checksum, which hashes words of 8
// bytes in four lanes: each step of a lane waits for its previous multiplication, and the other
// lanes fill that latency. Read next: safetensors.cc.
#include "core/base/digest.h"

#include <cstring>

namespace headlab {
namespace {

constexpr std::uint64_t kBasis = 0xCBF29CE484222325, kPrime = 0x100000001B3;  // as published

/// Mixes `word` into `hash`. The step is one-to-one in both: an odd factor and a shift can be
/// undone.
std::uint64_t step(std::uint64_t hash, std::uint64_t word) {
  const std::uint64_t product = (hash ^ word) * 0x9FB21C651E98DF25;
  return product ^ (product >> 32);  // moves high bits to low ones
}

}  // namespace

std::string hexadecimal(std::uint64_t value, int digits) {
  std::string out(digits, '0');
  for (auto digit = out.rbegin(); digit != out.rend(); ++digit, value >>= 4) {
    *digit = "0123456789ABCDEF"[value & 15];
  }
  return out;
}

std::string fingerprint(std::string_view bytes) {
  std::uint64_t hash = kBasis;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hexadecimal(hash, 16);
}

void Checksum::add(std::string_view part) {
  const std::uint64_t size = part.size();
  for (; part.size() >= 32; part.remove_prefix(32)) {
    std::uint64_t words[4];
    std::memcpy(words, part.data(), sizeof words);
    for (int lane = 0; lane < 4; ++lane) lanes_[lane] = step(lanes_[lane], words[lane]);
  }
  for (const char c : part) lanes_[0] = step(lanes_[0], static_cast<unsigned char>(c));
  lanes_[1] = step(lanes_[1], size);
}

std::string Checksum::text() const {
  std::uint64_t sum = kBasis;
  for (const std::uint64_t lane : lanes_) sum = step(sum, lane);
  return hexadecimal(sum, 16);
}

}  // namespace headlab
