// The table of layouts: the names that files of a kind give to parameters and settings, and the
// order of the numbers in their matrices. To add a family whose arithmetic is that of a layout, add
// rows: a Family, and a KnownKey for each key of its config.json that the layout does not have yet.
// Rows: layout_table.cc (tensors) and layout_keys.cc (keys of config.json). Both directions of the
// table are in layout_settings.cc (settings) and layouts.cc (tensors).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/base/json.h"
#include "headlab/core/model/config.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// The order of a matrix [rows, columns] of ours in a file: unchanged; as the layout stores linear
/// maps, [rows, columns] or [columns, rows]; or with an axis for heads, [H, rows, D] or
/// [H, D, columns]. `grouped` is by_head, named _W_K in place of W_K if heads share keys.
enum class Form { same, linear, transposed, by_head, grouped, head_rows };

/// Biases that a family has or lacks, in addition to those that a layout always has.
enum class BiasGroup { always, query_key_value, attention_output, network };

/// The tensor that holds a parameter: * stands for the number of a block. Several parameters may
/// be parts of one tensor, side by side.
struct Place {
  const char *ours, *theirs;
  Form form = Form::same;
  Index part = 0, parts = 1;
  BiasGroup group = BiasGroup::always;
};

/// A key of their config.json that is one of our settings. "a.b" is the key b in the object a.
struct NamedSetting {
  const char *theirs, *ours;
  bool may_be_null = false;  // null means the same as no key
  bool is_exported = true;
  const char* if_null = nullptr;  // our value that null means, if there is one
};

/// Treatment by import of a key of config.json that is not one of our settings.
enum class KeyUse {
  read,      // a function of layout_settings.cc reads it
  harmless,  // it does not change the logits
  only       // it changes them: only the values that headlab computes are accepted
};

struct KnownKey {
  const char* name;
  KeyUse use;
  const char* accepted;  // of `only`: the accepted values, as a JSON array
  const char* why;
  /// One more accepted number of `only`.
  double (*computed)(const TransformerConfig& config) = nullptr;
  /// Whether `only` also accepts true, since it changes nothing in such a model.
  bool (*ignores_true)(const TransformerConfig& config) = nullptr;
};

/// The key of config.json that says whether a group of biases exists. Null: it does not.
struct BiasKeys {
  const char *query_key_value = nullptr, *attention_output = nullptr, *network = nullptr;
};
/// In place of a key: the biases always exist.
inline constexpr const char* kAlways = "always";

/// Which layers of a family have a sliding window: what its source reads of `sliding_window` and
/// `layer_types`.
enum class FamilyWindows { none, all_layers, by_layer };

/// A kind of model with the tensors of a layout whose arithmetic was checked against its source.
struct Family {
  const char *model_type, *architecture;
  BiasKeys biases = {};
  const char* defaults = "{}";  // values of its config class that differ from the layout's
  bool adjacent_pairs = false;  // rotary pairs are (2i, 2i + 1)
  FamilyWindows windows = FamilyWindows::none;
};

/// A kind of tensor that is not read, and the reason.
struct TensorLeftOut {
  const char *kind, *why;
};

/// Tensor in files that is not a parameter.
struct HarmlessTensor {
  const char* name;
  TensorLeftOut about;
};

struct ModelLayout {
  const char *name, *known_by;  // a key that no other layout has
  const char* settings;         // settings that their config.json need not name
  std::span<const NamedSetting> keys;
  std::span<const KnownKey> known = {},
                            shared = {};  // other keys; `shared` are those of several layouts
  std::span<const Place> places;
  std::span<const HarmlessTensor> harmless;
  const char* unembedding;                // the tensor that a tied model may repeat or leave out
  std::span<const Family> families = {};  // the first is the one that export names
  const char* prefix = "";                // of the names of all tensors but lm_head
  Form linear = Form::same;               // of linear maps
  bool halves = false;            // rotary pairs are (i, i + D/2), where ours are (2i, 2i + 1)
  bool own_names = false;         // parameters without a Place have the same name as ours
  bool has_network = true;        // a feed-forward network, 4 d_model wide if no key says it
  bool biases_by_family = false;  // Family::biases decides which biases exist
  bool repeats_tied = false;      // files of tied models hold the unembedding too
  const char* also = "{}";        // more keys that export writes
  const char* python = "";        // lines that load what export wrote
  const char* remark = "";        // what a user of these lines must know
};

/// A word of theirs for a value of our setting; export writes the first of several.
struct Word {
  std::string_view setting, theirs, ours;
};

// ---- layout_table.cc

extern const std::span<const ModelLayout> kLayouts;
extern const std::span<const Word> kWords;

// ---- layout_keys.cc

extern const std::span<const NamedSetting> kGpt2Keys, kNanoKeys, kLlamaKeys, kTransformerLensKeys;
extern const std::span<const KnownKey> kHuggingFaceKnown, kGpt2Known, kNanoKnown, kLlamaKnown,
    kTransformerLensKnown;
extern const std::span<const Family> kGpt2Families, kLlamaFamilies;

// ---- layout_settings.cc

/// Content of config.json about a model.
struct Description {
  TransformerConfig config;        // in its shortest form
  const Family* family = nullptr;  // null in layouts without families
  bool adjacent_pairs = false;     // rotary pairs are (2i, 2i + 1)
  bool bare_norms = false;         // norms have neither gains nor biases (TransformerLens: LNPre)
  std::vector<BiasGroup> biases = {};  // groups that exist
};

/// Reads config.json. `file_has_biases` counts if the keys do not say it; keys named in `ignored`
/// are passed over. Errors name the key and its value: a key that no table has, a value that
/// headlab does not compute, a family that was not checked, a key in `ignored` that is not unknown.
Description description_of(const ModelLayout& layout, const Json& json, bool file_has_biases,
                           const std::vector<std::string>& ignored = {});
/// config.json of a model. Error that names the settings which the layout cannot say.
Json json_of(const ModelLayout& layout, const TransformerConfig& config);

// ---- layout_reading.cc

/// Returns the value at a key, "a.b" for b in a; null if there is none.
Json value_at(const Json& json, std::string_view key);
/// Returns the row of the family that model_type and architectures name; null if the layout has
/// none. Error if it is not in the table.
const Family* family_of(const ModelLayout& layout, const Json& json);
/// Throws an Error for a key that headlab does not know or whose value it does not compute.
void check_keys(const ModelLayout& layout, const Json& json, const TransformerConfig& config,
                const std::vector<std::string>& ignored);
/// Sliding windows of the layers, 0 for none, as `sliding_window` and `layer_types` (Hugging Face)
/// or `use_local_attn`, `window_size` and `attn_types` (TransformerLens) say.
std::vector<Index> windows_of(const ModelLayout& layout, const Json& json,
                              const TransformerConfig& config);
/// Throws an Error for windows that the source of the family does not compute, although config.json
/// names them.
void check_windows(const Family& family, const std::vector<Index>& windows);

}}  // namespace headlab
