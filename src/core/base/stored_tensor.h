// Sizes of tensors in safetensors files: dtypes, products of shapes with overflow checks, and the
// number of bytes that a dtype and a shape need. Shared by the reader of files (safetensors.cc) and
// by tensors (stored_tensor.cc).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "headlab/core/base/safetensors.h"

namespace headlab {

/// Returns the bytes of one element. Error for a dtype that safetensors does not have.
std::size_t element_size(std::string_view dtype);

/// Returns size x the product of the shape. Error if a size is negative or the result exceeds 2^63
/// - 1.
std::int64_t checked_product(std::int64_t size, const std::vector<std::int64_t>& shape);

/// Throws an Error unless the dtype and the shape of a tensor need exactly this many bytes.
void check_size(const StoredTensor& tensor, std::uint64_t bytes);

/// Returns the value of a 16-bit number (IEEE 754 binary16).
float float_of_half(std::uint16_t half);

}  // namespace headlab
