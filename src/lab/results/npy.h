// The format of NumPy's arrays (.npy, version 1.0): a magic number, the length of a header, the
// header (a Python dict in ASCII, padded so that the data is aligned to 64 bytes), then the
// elements, little endian and row-major. Format:
// numpy.org/doc/stable/reference/generated/numpy.lib.format. Read next: safetensors.h, which holds
// many arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace headlab {

/// Returns the bytes of a .npy file of float32. Error unless the shape holds as many elements.
std::string npy_bytes(std::span<const std::int64_t> shape, std::span<const float> values);

}  // namespace headlab
