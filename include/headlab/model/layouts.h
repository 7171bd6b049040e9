// Models as others store them: a layout is a row of one table, read both ways, so that import and
// export cannot disagree. It says where each parameter lies in files of that kind, and which of our
// settings their config.json names. What a layout cannot say is refused by name, in either
// direction. Read next: src/lab/layouts/layouts.cc; base/safetensors.h.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/model/transformer.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// "huggingface-gpt2" and so on, and the lines of Python that load what export_model wrote into the
/// folder OUT.
struct LayoutName {
  const char *name, *python;
};
std::vector<LayoutName> layouts();
/// These, and "npz": arrays by our own names for NumPy, beside our settings.
std::vector<LayoutName> exports();

struct ImportedModel {
  Transformer model;
  std::string layout;
  std::vector<std::string> unread;  // tensors of the file that are no parameters, such as masks
  std::vector<std::string> unset;   // parameters that the layout has not: biases, which are 0
};

/// Reads a model: a folder with config.json and model.safetensors (or shards and their index), or
/// one of these files beside a config.json; numbers are F32, F16, BF16 or F64. Its layout is known
/// by the keys of config.json. In memory are the model and one more tensor. Errors: those of
/// TensorReader; settings that we have not; tensors that are missing, left over, or of another
/// shape, each by its name.
ImportedModel import_model(const std::filesystem::path& path);

/// Writes config.json and model.safetensors or model.npz into a folder, which must be new or empty.
/// Error that names what the layout cannot say.
void export_model(const Transformer& model, std::string_view layout,
                  const std::filesystem::path& folder);

}}  // namespace headlab
