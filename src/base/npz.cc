// The directory at the end of the archive says where each file lies; what stands before a file is
// passed over.
// Read next: npy.cc.
#include "base/npz.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "headlab/base/error.h"

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

WholeNumbers array_of(std::string_view npy) {
  require(npy.starts_with("\x93NUMPY"), "it is no array of NumPy");
  const std::size_t digits = number_at(npy, 6, 1) == 1 ? 2 : 4, size = number_at(npy, 8, digits);
  const std::string header(part(npy, 8 + digits, size));
  char order = 0, sign = 0, sizes[128] = "";
  WholeNumbers array{{}, npy.substr(8 + digits + size)};
  std::sscanf(header.c_str(), "{'descr': '%c%c%1d', 'fortran_order': False, 'shape': (%127[0-9 ,]",
              &order, &sign, &array.width, sizes);
  require(*sizes != '\0' && order != '>' && array.width >= 1 && array.width <= 8 &&
              (sign == 'i' || sign == 'u'),
          "it holds no whole numbers such as <i4 or <u2, row by row");
  array.has_sign = sign == 'i';
  std::ranges::replace(sizes, ',', ' ');
  std::istringstream in(sizes);
  std::size_t count = static_cast<std::size_t>(array.width);
  for (std::size_t length; in >> length; count *= length) {
    require(length > 0 && count <= array.bytes.size() / length, "it holds less than its shape");
    array.shape.push_back(static_cast<std::int64_t>(length));
  }
  require(!array.shape.empty() && count == array.bytes.size(), "it holds more than its shape");
  return array;
}

}  // namespace

std::int64_t WholeNumbers::operator[](std::int64_t i) const {
  const auto size = static_cast<std::size_t>(width);
  const std::uint64_t number = number_at(bytes, static_cast<std::size_t>(i) * size, size);
  const int unused = 64 - 8 * width;  // bits, into which the sign goes
  return has_sign ? static_cast<std::int64_t>(number << unused) >> unused
                  : static_cast<std::int64_t>(number);
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
      return array_of(part(bytes, begin, size));
    });
    at += 46 + name_size + number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
  }
  return arrays;
}

}  // namespace headlab
