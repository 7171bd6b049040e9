// Reading and writing parameters as safetensors, under the names that `visit` gives them. Files
// always hold F32, for both number types of this library. Loading is strict: a file that does not
// fit exactly is refused. Read next: core/base/safetensors.h.
#pragma once

#include <filesystem>
#include <string>

#include "headlab/core/base/safetensors.h"
#include "headlab/core/model/model.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Converts a tensor to its stored form.
StoredTensor stored(const std::string& name, const Tensor& tensor);
/// Reads the elements into a tensor of the same shape. Error that names the tensor if shape or
/// dtype (F32) differ or an element is not finite.
void read_into(const StoredTensor& from, const Tensor& to);

/// Adds every parameter to `file`, with its name after `prefix`.
void store_parameters(const Model& model, TensorFile& file, const std::string& prefix = "");
/// Fills every parameter from `file`. Error if one is missing or another name begins with `prefix`;
/// the model then does not change.
void load_parameters(Model& model, const TensorFile& file, const std::string& prefix = "");

/// Fills every parameter from a file that holds nothing else, one tensor at a time.
void load_parameters(Model& model, const TensorReader& file);

/// Write and read the file of a model (model.safetensors). Errors name the file.
void write_model(const std::filesystem::path& path, const Model& model);
void read_model(const std::filesystem::path& path, Model& model);

}}  // namespace headlab
