// Numbers that files store in little-endian order, read byte by byte so that neither alignment nor
// the byte order of the machine matters. Every read is checked against the end of the bytes.
// Read next: npz.cc and npy_read.cc, which use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "headlab/core/base/error.h"

namespace headlab {

/// Returns the `size` bytes from `begin` on. Error if the bytes end before.
inline std::string_view bytes_at(std::string_view bytes, std::size_t begin, std::size_t size) {
  require(begin <= bytes.size() && size <= bytes.size() - begin, "it ends too early");
  return bytes.substr(begin, size);
}

/// Returns the unsigned number of `width` <= 8 bytes at `begin`. Error if the bytes end before.
inline std::uint64_t number_at(std::string_view bytes, std::size_t begin, std::size_t width) {
  std::uint64_t number = 0;
  const std::string_view digits = bytes_at(bytes, begin, width);
  for (std::size_t i = width; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(digits[i]);
  }
  return number;
}

}  // namespace headlab
