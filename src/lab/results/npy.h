// The format of NumPy's arrays (.npy, version 1.0): a magic number, the length of a header, the
// header (a Python dict in ASCII, padded so that the data is aligned to 64 bytes), then the
// elements, little endian and row-major. Format:
// numpy.org/doc/stable/reference/generated/numpy.lib.format. Read next: safetensors.h, which holds
// many arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headlab {

/// Returns the bytes of a .npy file of float32. Error unless the shape holds as many elements.
std::string npy_bytes(std::span<const std::int64_t> shape, std::span<const float> values);

/// Returns the same of int32.
std::string npy_bytes(std::span<const std::int64_t> shape, std::span<const std::int32_t> values);

/// Floating-point numbers, row-major.
struct FloatArray {
  std::vector<std::int64_t> shape{};
  std::vector<float> values{};
};

/// Returns the array of a .npy file of float16, float32 or float64; the last is rounded to float32.
/// Error for other elements, column order, big-endian order, and a size that differs from the
/// shape.
FloatArray read_npy_floats(std::string_view bytes);

}  // namespace headlab
