// Encodings and hashes for the HTML page: base64 for numbers inside it, SHA-256 for the scripts
// that its content security policy allows, and a 32-bit hash that notices any changed byte. Read
// next: files.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headlab {

/// The SHA-256 of some bytes. Source: FIPS 180-4, section 6.2.
std::array<std::uint8_t, 32> sha256(std::string_view bytes);

/// Base64 with padding and without line breaks. Source: RFC 4648, section 4.
std::string base64(std::string_view bytes);

/// The 32-bit FNV-1a hash. A change of a single byte always changes it: each step is a bijection of
/// the state. Source: Fowler, Noll and Vo, 1991.
std::uint32_t fnv1a(std::string_view bytes);

}  // namespace headlab
