// Writing of .npy files only; headlab reads weights from safetensors. Elements are stored as in
// memory, which safetensors.cc has checked to be little endian.
// Read next: files.h.
#include "lab/results/npy.h"

#include <functional>
#include <numeric>

#include "headlab/core/base/error.h"

namespace headlab {

namespace {

/// Returns the bytes of a .npy file of elements with NumPy's name `type`.
template <class Element>
std::string bytes_of(const char* type, std::span<const std::int64_t> shape,
                     std::span<const Element> values) {
  const auto count =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  require(count == std::ssize(values), "cannot write an array of ", count, " elements: it got ",
          values.size());
  std::string sizes;
  for (const std::int64_t size : shape) sizes += std::to_string(size) + ", ";
  std::string header =
      text("{'descr': '", type, "', 'fortran_order': False, 'shape': (", sizes, "), }");
  constexpr std::size_t kPrefix = 10;  // magic, version, length
  header.append(63 - (kPrefix + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes +=
      {'\1', '\0', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  bytes += header;
  return bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

}  // namespace

std::string npy_bytes(std::span<const std::int64_t> shape, std::span<const float> values) {
  return bytes_of("<f4", shape, values);
}

std::string npy_bytes(std::span<const std::int64_t> shape, std::span<const std::int32_t> values) {
  return bytes_of("<i4", shape, values);
}

}  // namespace headlab
