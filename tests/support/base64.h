// The way back from base64, for tests that read what the library writes into pages. Takes only what
// base64() gives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headlab {

/// The bytes of a text in base64 (RFC 4648, section 4).
inline std::string from_base64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;  // how many of the low bits are not yet part of a byte
  for (const char c : text.substr(0, text.find('='))) {
    bits = bits << 6 | static_cast<std::uint32_t>(kAlphabet.find(c));
    if ((held += 6) < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held);
  }
  return bytes;
}

}  // namespace headlab
