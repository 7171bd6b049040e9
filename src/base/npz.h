// The arrays of whole numbers of a .npz file: a zip archive of .npy files (npy.h), stored and not
// compressed, as numpy.savez writes them. Format: PKWARE's APPNOTE 6.3.10, sections 4.3.7, 4.3.12
// and 4.3.16. Checksums are not looked at.
// Read next: npy.h.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headlab {

/// Whole numbers of 1 to 8 bytes, row-major, where they lie.
struct WholeNumbers {
  std::vector<std::int64_t> shape = {};
  std::string_view bytes = {};
  int width = 1;
  bool has_sign = false;

  std::int64_t count() const { return std::ssize(bytes) / width; }
  std::int64_t operator[](std::int64_t i) const;
};

/// The arrays by name, which live as long as `bytes`. Error that names what cannot be read.
std::map<std::string, WholeNumbers, std::less<>> read_npz(std::string_view bytes);

}  // namespace headlab
