// Archives of NumPy's arrays by hand: what numpy.savez writes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lab/results/npz.h"

namespace headlab {

inline std::string little_endian(std::uint64_t number, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
  return bytes;
}

/// An array of elements of a kind such as "<i4" and a shape such as "2, 3".
inline std::string npy(const std::string& kind, const std::string& shape, const std::string& data) {
  const std::string header =
      "{'descr': '" + kind + "', 'fortran_order': False, 'shape': (" + shape + "), }\n";
  return "\x93NUMPY" + std::string("\1\0", 2) + little_endian(header.size(), 2) + header + data;
}

/// An archive of files NAME.npy, as APPNOTE 4.3 has it, with some bytes before each and comments.
inline std::string npz(const std::vector<std::pair<std::string, std::string>>& files,
                       int method = 0) {
  std::string archive, entries;
  for (const auto& [short_name, file] : files) {
    const std::string name = short_name + ".npy", size = little_endian(file.size(), 4);
    const std::string about = little_endian(static_cast<std::uint64_t>(method), 2) +
                              std::string(4, '\0') + little_endian(crc32(file), 4) + size + size +
                              little_endian(name.size(), 2);
    entries += "PK\1\2" + std::string(6, '\0') + about + little_endian(2, 2) + little_endian(3, 2) +
               std::string(8, '\0') + little_endian(archive.size(), 4) + name + "xyabc";
    archive += "PK\3\4" + std::string(4, '\0') + about + little_endian(3, 2) + name + "xyz" + file;
  }
  const std::string count = little_endian(files.size(), 2);
  return archive + entries + "PK\5\6" + std::string(4, '\0') + count + count +
         little_endian(entries.size(), 4) + little_endian(archive.size(), 4) + std::string(2, '\0');
}

}  // namespace headlab
