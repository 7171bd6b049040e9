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

/// "huggingface-gpt2" and so on, the lines of Python that load what export_model wrote into the
/// folder OUT, and what a user of these lines must know ("" if nothing).
struct LayoutName {
  const char *name, *python, *remark;
};
std::vector<LayoutName> layouts();
/// layouts() and "npz": arrays by our own names for NumPy, with our settings.
std::vector<LayoutName> exports();

struct ImportedModel {
  Transformer model;
  std::string layout;
  std::vector<std::string> unread;  // tensors that need not be read, such as masks: the reason
  std::vector<std::string> unset;   // parameters that the file does not hold: biases 0, gains 1
};

/// Reads a model: a folder with config.json and model.safetensors (or shards and their index), or
/// one of these files with a config.json in the same folder; numbers are F32, F16, BF16 or F64. The
/// layout is the one whose key config.json has. In memory are the model and one more tensor; for
/// tied models with two matrices, two more. Keys of config.json named in `ignored` are passed over.
/// Errors: those of TensorReader; a key that is not known and not in `ignored`; a value or family
/// that headlab does not compute; tensors that are missing, left over, twice there, or of another
/// shape, each by its name.
ImportedModel import_model(const std::filesystem::path& path,
                           const std::vector<std::string>& ignored = {});

/// Writes config.json and model.safetensors or model.npz into a folder, which must be new or empty.
/// Error that names what the layout cannot say.
void export_model(const Transformer& model, std::string_view layout,
                  const std::filesystem::path& folder);

}}  // namespace headlab
