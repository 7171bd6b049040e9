// Encodings of a page: base64 for data inside it, SHA-256 for the scripts that its content security
// policy allows, and a hash of 32 bits by which the page checks its data. Read next: page_html.cc;
// page_blocks.h, the data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headlab {

/// Returns the SHA-256 of some bytes. Source: FIPS 180-4, section 6.2.
std::array<std::uint8_t, 32> sha256(std::string_view bytes);

/// Encodes as base64 with padding and without line breaks. Source: RFC 4648, section 4.
std::string base64(std::string_view bytes);

/// Returns the 32-bit FNV-1a hash. A change of a single byte always changes it, because each step
/// is a bijection of the state. Source: Fowler, Noll and Vo, 1991.
std::uint32_t fnv1a(std::string_view bytes);

}  // namespace headlab
