// The safetensors format: u64 length of the header (little endian), the header (JSON: name ->
// dtype, shape, data_offsets; "__metadata__": strings), then the bytes of the tensors, in order and
// without holes. A header may be wrong, so it is read strictly: every value is checked against the
// size of the file. Format: github.com/huggingface/safetensors. Read next: json.h and files.h, on
// which it is based.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headlab/core/base/files.h"

namespace headlab {

/// A tensor as stored in a file. `bytes` are little endian, row-major.
struct StoredTensor {
  std::string name;
  /// One of "F64" "F32" "F16" "BF16" "I64" "I32" "U8" "BOOL"; others are refused.
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;

  /// Returns the product of the shape. Error if it is negative or overflows.
  std::int64_t count() const;
  /// Returns the elements as float, double (F32, F64; rounded if necessary) or std::int64_t (I64,
  /// I32, U8, BOOL). Error if whole numbers are read as real numbers or the reverse.
  template <class Number>
  std::vector<Number> numbers() const;
  /// Returns a tensor of float, double or std::int64_t elements, stored as F32, F64 or I64.
  template <class Number>
  static StoredTensor of(std::string name, std::vector<std::int64_t> shape,
                         std::span<const Number> values);
};

struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::vector<StoredTensor> tensors;  // in the order of their bytes
  bool checked = false;               // whether the file had a checksum, which was correct

  const StoredTensor* find(std::string_view name) const;
  /// Returns the tensor with this name. Error if there is none.
  const StoredTensor& at(std::string_view name) const;
};

/// Reads a file. Errors name the file and the fault: missing, truncated, header too long or not
/// JSON, duplicate names, unknown dtype, negative or overflowing shape, size that does not match
/// the shape, overlaps, holes, trailing bytes, or a wrong checksum. The header may list the tensors
/// in any order, as the format allows.
TensorFile read_safetensors(const std::filesystem::path& path);
/// Parses bytes in memory; `source` names them in messages.
TensorFile parse_safetensors(std::string_view bytes, std::string_view source);

/// Reads the tensors of a file one at a time, so that a large model is never in memory twice.
class TensorReader {
 public:
  /// Opens a file. Errors: those of read_safetensors.
  explicit TensorReader(const std::filesystem::path& path);

  /// Returns the header of the file, without the bytes of tensors.
  const TensorFile& header() const { return header_; }
  /// Returns the elements of a tensor. Error if there is none of this name, or if they are not real
  /// numbers.
  std::vector<float> floats(std::string_view name) const;

 private:
  std::unique_ptr<FileReader> file_;
  TensorFile header_;
  std::unordered_map<std::string, std::uint64_t> begin_;  // of the bytes of each tensor
};

/// Writes the file atomically (files.h), with a checksum of header and data in its metadata:
/// "checksum", 16 hexadecimal digits. Error for duplicate names or a size that does not fit the
/// shape.
void write_safetensors(const std::filesystem::path& path, const TensorFile& file,
                       Links links = Links::replace);
/// Writes tensors without bytes, whose bytes are views[i].
void write_safetensors(const std::filesystem::path& path, const TensorFile& file,
                       const std::vector<std::string_view>& views, Links links = Links::replace);

}  // namespace headlab
