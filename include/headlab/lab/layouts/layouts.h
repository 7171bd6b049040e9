// Import and export of models in checkpoint formats of other programs. A layout is one row of a
// table that both directions use, so import and export cannot disagree. It maps each parameter to
// its tensors in such files, and our settings to keys of their config.json. Anything a layout
// cannot represent is refused by name, in either direction. Read next: src/lab/layouts/layouts.cc;
// core/base/safetensors.h.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/model/transformer.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// A layout: its name, such as "huggingface-gpt2", the Python lines that load a model exported to
/// the folder OUT, and a remark for users of these lines ("" if none).
struct LayoutName {
  const char *name, *python, *remark;
};
std::vector<LayoutName> layouts();
/// Returns layouts() and "npz": NumPy arrays under our own names, with our settings.
std::vector<LayoutName> exports();

/// A tensor that was not read: "mask", because "headlab makes its own".
struct UnreadTensor {
  std::string name;  // with its shape
  std::string kind, why;
};

struct ImportedModel {
  Transformer model;
  std::string layout;
  std::vector<UnreadTensor> unread;
  std::vector<std::string> unset;  // parameters that the file does not contain: biases 0, gains 1
};

/// Reads a model: a folder with config.json and model.safetensors (or shards and their index), or
/// one of these files with a config.json in the same folder; numbers are F32, F16, BF16 or F64. A
/// key of config.json decides the layout. Memory holds the model and one more tensor; for tied
/// models with two matrices, two more. Keys of config.json named in `ignored` are skipped. Errors:
/// those of TensorReader; files that do not fit their index; a key that is neither known nor in
/// `ignored`; a value or family that headlab does not compute; tensors that are missing,
/// unexpected, duplicate, or of another shape, each named.
ImportedModel import_model(const std::filesystem::path& path,
                           const std::vector<std::string>& ignored = {});

/// Writes config.json and model.safetensors or model.npz into a folder, which must be new or empty.
/// Errors name the settings that the layout cannot represent.
void export_model(const Transformer& model, std::string_view layout,
                  const std::filesystem::path& folder);

}}  // namespace headlab
