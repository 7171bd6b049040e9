// Hashes and encodings: checksums that detect damage (not a defence against deliberate changes),
// SHA-256 for the scripts that a page's content security policy allows, base64 and 16-bit numbers
// for data inside a page. Read next: safetensors.cc, whose files have a checksum.
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

/// Returns the SHA-256 of some bytes. Source: FIPS 180-4, section 6.2.
std::array<std::uint8_t, 32> sha256(std::string_view bytes);

/// Encodes as base64 with padding and without line breaks. Source: RFC 4648, section 4.
std::string base64(std::string_view bytes);

/// Returns the 32-bit FNV-1a hash. A change of a single byte always changes it, because each step
/// is a bijection of the state. Source: Fowler, Noll and Vo, 1991.
std::uint32_t fnv1a(std::string_view bytes);

/// Returns the CRC-32, the checksum of zip archives. Source: RFC 1952, section 8.
std::uint32_t crc32(std::string_view bytes);

/// Returns the nearest 16-bit number (IEEE 754 binary16), ties to even; values out of range become
/// infinite.
std::uint16_t half_of(float value);
float float_of_half(std::uint16_t half);

}  // namespace headlab
