// The tensors of a model of another program, in one file of safetensors or in several with an
// index, as Hugging Face writes them. A file of another format is named with the way to convert it.
// Read next: layout_tensors.h, which finds our parameters in them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headlab/core/base/safetensors.h"
#include "headlab/core/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Reads tensors one at a time from all files of a model.
class ShardedReader {
 public:
  /// Opens a file; an index of several, NAME.index.json; or a folder that holds model.safetensors
  /// or its index. Errors: those of TensorReader; a file that the index names is missing, or does
  /// not hold exactly the tensors that the index lists; a file of another format.
  explicit ShardedReader(const std::filesystem::path& path);

  /// Returns all tensors, without their bytes.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// Returns the tensor with this name without its bytes, in constant time; null if there is none.
  const StoredTensor* find(std::string_view name) const;
  /// Returns the elements of a tensor. Error if there is none of this name, or if they are not real
  /// numbers.
  std::vector<float> floats(const std::string& name) const;

 private:
  struct Place {
    std::size_t file, tensor;  // indices
  };
  void add(const std::filesystem::path& file);
  void add_all(const std::filesystem::path& index);

  std::vector<TensorReader> files_;
  std::vector<StoredTensor> tensors_;
  std::unordered_map<std::string, Place> places_;  // by name
};

}}  // namespace headlab
