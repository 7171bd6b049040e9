// The directory at the end of the archive says where each file lies; what stands before a file is
// passed over when it is read.
// Read next: npy.cc.
#include "results/npz.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

#include "headlab/base/error.h"
#include "headlab/base/files.h"

namespace headlab {
namespace {

std::string_view part(std::string_view bytes, std::size_t begin, std::size_t size) {
  require(begin <= bytes.size() && size <= bytes.size() - begin, "it ends too early");
  return bytes.substr(begin, size);
}

/// A number of up to 8 bytes, little endian.
std::uint64_t number_at(std::string_view bytes, std::size_t begin, std::size_t width) {
  std::uint64_t number = 0;
  const std::string_view digits = part(bytes, begin, width);
  for (std::size_t i = width; i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(digits[i]);
  return number;
}

/// The checksum that archives carry. Source: RFC 1952, section 8.
std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> remainders{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      remainders[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        remainders[i] = remainders[i] >> 1 ^ (remainders[i] & 1) * 0xEDB88320;
    }
    return remainders;
  }();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes)
    crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 255];
  return ~crc;
}

/// Numbers one after the other, each of `width` bytes, little endian.
std::string numbers(int width, std::initializer_list<std::uint64_t> values) {
  std::string bytes;
  for (const std::uint64_t value : values)
    for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

}  // namespace

std::int64_t WholeNumbers::operator[](std::int64_t i) const {
  const auto size = static_cast<std::size_t>(width);
  const std::uint64_t number = number_at(bytes, static_cast<std::size_t>(i) * size, size);
  const int unused = 64 - 8 * width;  // bits, into which the sign goes
  return has_sign ? static_cast<std::int64_t>(number << unused) >> unused
                  : static_cast<std::int64_t>(number);
}

WholeNumbers read_npy(std::string_view npy) {
  require(npy.starts_with("\x93NUMPY"), "it is no array of NumPy");
  const std::size_t digits = number_at(npy, 6, 1) == 1 ? 2 : 4, size = number_at(npy, 8, digits);
  const std::string header(part(npy, 8 + digits, size));
  char order = 0, kind = 0, sizes[128] = "";
  int width = 0;
  WholeNumbers array{{}, npy.substr(8 + digits + size)};
  std::sscanf(header.c_str(), "{'descr': '%c%c%6d', 'fortran_order': False, 'shape': (%127[0-9 ,]",
              &order, &kind, &width, sizes);
  const bool letters = kind == 'U';
  require(order != '>' && (letters || (*sizes != '\0' && width >= 1 && width <= 8 &&
                                       (kind == 'i' || kind == 'u'))),
          "it holds no whole numbers such as <i4 or <u2, row by row: array.astype(numpy.int32)");
  array.width = letters ? 4 : width;
  array.has_sign = kind == 'i';
  std::ranges::replace(sizes, ',', ' ');
  std::istringstream in(sizes + (letters ? text(" ", width) : ""));
  std::size_t count = static_cast<std::size_t>(array.width);
  for (std::size_t length; in >> length; count *= length) {
    require(length > 0 && count <= array.bytes.size() / length, "it holds less than its shape");
    array.shape.push_back(static_cast<std::int64_t>(length));
  }
  require(!array.shape.empty() && count == array.bytes.size(), "it holds more than its shape");
  return array;
}

std::map<std::string, WholeNumbers, std::less<>> read_npz(std::string_view bytes) {
  const std::size_t end = bytes.rfind("PK\5\6");
  require(end != bytes.npos, "it is no archive of arrays, or its end is missing");
  std::map<std::string, WholeNumbers, std::less<>> arrays;
  std::size_t at = number_at(bytes, end + 16, 4);
  for (std::size_t files = number_at(bytes, end + 10, 2); files > 0; --files) {
    require(part(bytes, at, 4) == "PK\1\2", "its list of arrays is damaged");
    const std::size_t name_size = number_at(bytes, at + 28, 2), size = number_at(bytes, at + 24, 4),
                      place = number_at(bytes, at + 42, 4);
    std::string name(part(bytes, at + 46, name_size));
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    arrays[name] = in_context(name, [&] {
      require(number_at(bytes, at + 10, 2) == 0, "it is compressed: write it with numpy.savez");
      require(size < 0xFFFFFFFF && place < 0xFFFFFFFF, "it is larger than 4 GB");
      const std::size_t begin =
          place + 30 + number_at(bytes, place + 26, 2) + number_at(bytes, place + 28, 2);
      return read_npy(part(bytes, begin, size));
    });
    at += 46 + name_size + number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
  }
  return arrays;
}

void write_npz(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, std::string>>& files) {
  constexpr std::uint64_t kVersion = 20, kDay = 1 << 5 | 1;  // 1980-01-01
  std::vector<std::string> heads;
  std::string entries;
  std::uint64_t end = 0;
  for (const auto& [array, file] : files) {
    const std::string name = array + ".npy";
    const std::string about = numbers(2, {kVersion, 0, 0, 0, kDay}) +
                              numbers(4, {crc32(file), file.size(), file.size()}) +
                              numbers(2, {name.size(), 0});
    entries += "PK\1\2" + numbers(2, {kVersion}) + about + numbers(2, {0, 0, 0}) +
               numbers(4, {0, end}) + name;
    heads.push_back("PK\3\4" + about + name);
    end += heads.back().size() + file.size();
  }
  require(end + entries.size() < 0xFFFFFFFF && files.size() < 0xFFFF, path.string(),
          " would hold more than an archive can, 4 GB");
  entries += "PK\5\6" + numbers(2, {0, 0, files.size(), files.size()}) +
             numbers(4, {entries.size(), end}) + numbers(2, {0});
  std::vector<std::string_view> parts;
  for (std::size_t i = 0; i < files.size(); ++i)
    parts.insert(parts.end(), {heads[i], files[i].second});
  parts.emplace_back(entries);
  write_file(path, parts);
}

}  // namespace headlab
