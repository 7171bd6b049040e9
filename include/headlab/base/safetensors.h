// The safetensors format: u64 length of the header (little endian), the header (JSON: name ->
// dtype, shape, data_offsets; "__metadata__": strings), then the bytes of the tensors, in order and
// without holes. A header can lie, so it is read strictly: nothing is believed before it is checked
// against the size of the file. Format: github.com/huggingface/safetensors. Read next: json.h and
// files.h, on which it stands.
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

#include "headlab/base/files.h"

namespace headlab {

/// One tensor as it stands in a file. `bytes` are little endian, row-major.
struct StoredTensor {
  std::string name;
  /// "F64" "F32" "F16" "BF16" "I64" "I32" "U8" "BOOL"; others are refused.
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;

  /// The product of the shape. Error if it is negative or overflows.
  std::int64_t count() const;
  /// The elements as float, double (F32, F64; rounded where that must be) or std::int64_t (I64,
  /// I32, U8, BOOL). Error for whole numbers read as others and the reverse.
  template <class Number>
  std::vector<Number> numbers() const;
  /// Of float, double or std::int64_t, stored as F32, F64 or I64.
  template <class Number>
  static StoredTensor of(std::string name, std::vector<std::int64_t> shape,
                         std::span<const Number> values);
};

struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::vector<StoredTensor> tensors;  // in the order of their bytes
  bool checked = false;               // read from a file with a checksum, which was right

  const StoredTensor* find(std::string_view name) const;
  /// Error if there is none.
  const StoredTensor& at(std::string_view name) const;
};

/// Error that names the file and what is wrong with it: missing, truncated, header too long or no
/// JSON, duplicate names, unknown dtype, negative or overflowing shape, size against shape,
/// overlaps, holes, trailing bytes and a checksum that is not that of the bytes. The header may
/// list the tensors in any order, as the format allows.
TensorFile read_safetensors(const std::filesystem::path& path);
/// The same from bytes; `source` names them in messages.
TensorFile parse_safetensors(std::string_view bytes, std::string_view source);

/// Tensors that are read one at a time, so that a large model is never in memory twice.
class TensorReader {
 public:
  /// A file; an index of several, NAME.index.json, as Hugging Face writes it; or a folder that
  /// holds model.safetensors or its index. Errors: those of read_safetensors; a file that the index
  /// names is missing, or does not hold exactly what the index says.
  explicit TensorReader(const std::filesystem::path& path);

  /// What the files say, without the bytes of tensors; `checked` is true if all are.
  const TensorFile& header() const { return header_; }
  /// The tensor of a name without its bytes, in constant time; null if there is none.
  const StoredTensor* find(std::string_view name) const;
  /// Error if there is none.
  const StoredTensor& at(std::string_view name) const;
  /// The elements. Error if they are not real numbers.
  std::vector<float> floats(std::string_view name) const;

 private:
  struct Place {
    std::shared_ptr<FileReader> file;
    std::uint64_t begin, end;
  };
  std::vector<std::string> add(const std::filesystem::path& file);
  void add_all(const std::filesystem::path& index);

  TensorFile header_{.metadata = {}, .tensors = {}, .checked = true};
  std::vector<Place> places_;                           // of each tensor
  std::unordered_map<std::string, std::size_t> index_;  // name: number of the tensor
};

/// Writes the file as one step (files.h), with a checksum of header and data in its metadata:
/// "checksum", 16 hexadecimal digits. Error for duplicate names or a size that does not fit the
/// shape.
void write_safetensors(const std::filesystem::path& path, const TensorFile& file,
                       Links links = Links::replace);
/// The same of tensors without bytes, whose bytes are views[i].
void write_safetensors(const std::filesystem::path& path, const TensorFile& file,
                       const std::vector<std::string_view>& views, Links links = Links::replace);

}  // namespace headlab
