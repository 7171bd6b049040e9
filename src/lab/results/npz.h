// A .npz file is a zip archive of .npy files (npy.h), stored and not compressed, as numpy.savez
// writes them. Arrays of whole numbers are read from it; their checksums are compared.
// Format: PKWARE's APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16. Read next: npy_read.cc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headlab {

/// Whole numbers of 1 to 8 bytes, row-major, where they lie. Texts are the code points of their
/// letters, with one axis more.
struct WholeNumbers {
  std::vector<std::int64_t> shape = {};
  std::string_view bytes = {};
  int width = 1;
  bool has_sign = false;
  bool is_text = false;

  std::int64_t count() const { return std::ssize(bytes) / width; }
  /// Returns element i. Error for a number of 2^63 or more.
  std::int64_t operator[](std::int64_t i) const;
};

/// Returns "[2, 3]".
std::string shape_text(const std::vector<std::int64_t>& shape);

/// Returns the array of a .npy file, which lives as long as `bytes`. Error for elements that are no
/// whole numbers, column order, big-endian order, and a size that differs from the shape.
WholeNumbers read_npy(std::string_view bytes);

/// Returns the arrays by name, which live as long as `bytes`. Error that names the array that
/// cannot be read, is there twice, or does not fit its checksum.
std::map<std::string, WholeNumbers, std::less<>> read_npz(std::string_view bytes);

/// Returns the CRC-32, the checksum of zip archives. Source: RFC 1952, section 8.
std::uint32_t crc32(std::string_view bytes);

/// Returns the bytes of an archive of .npy files, each with the name of its array. Error over 4 GB.
std::string npz_bytes(const std::vector<std::pair<std::string, std::string>>& files);
/// Writes the same to a file. Errors: those of npz_bytes and write_file.
void write_npz(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace headlab
