// Checksums that detect damage, which are no defence against deliberate changes: one of files, and
// a short one of texts. Hexadecimal numbers, as which both are written. Read next: safetensors.cc,
// whose files have a checksum.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headlab {

/// Returns the last `digits` hexadecimal digits of a number, in capitals.
std::string hexadecimal(std::uint64_t value, int digits);

/// Returns FNV-1a, 64 bits: h = (h xor byte) * prime. 16 hexadecimal digits.
std::string fingerprint(std::string_view bytes);

/// A fast 64-bit checksum of bytes that arrive in parts: four parallel hashes, each with the xor
/// and multiplication of FNV-1a but on words of 8 bytes, combined at the end. Each step is
/// one-to-one, so a single flipped bit always changes the sum; two different texts have the same
/// sum with a chance of 1 in 2^64.
class Checksum {
 public:
  /// Adds a part. The sum also depends on the boundaries between parts.
  void add(std::string_view part);
  std::string text() const;  // 16 hexadecimal digits

 private:
  std::array<std::uint64_t, 4> lanes_{0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB,
                                      0xD6E8FEB86659FD93};  // arbitrary, all different
};

}  // namespace headlab
