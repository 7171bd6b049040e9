// Reading of a config.json where more than one key is involved or an error may follow: the family,
// whether each of its keys is understood, and the windows of the layers. No key is ignored
// silently, because one key can change what every layer computes.
// Read next: layout_keys.cc, the rows; layout_settings.cc.
#include <algorithm>

#include "headlab/core/base/error.h"
#include "lab/layouts/layout_table.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Returns the value as JSON, shortened if it is long.
std::string shown(const Json& value) {
  constexpr std::size_t kMost = 80;
  const std::string whole = value.dump();
  if (whole.size() <= kMost) return whole;
  std::size_t end = kMost;
  while ((static_cast<unsigned char>(whole[end]) & 0xC0) == 0x80) --end;  // inside a character
  return whole.substr(0, end) + "...";
}

const KnownKey* known_key(const ModelLayout& layout, std::string_view name) {
  for (const std::span<const KnownKey> table : {layout.known, layout.shared}) {
    const auto found = std::ranges::find(table, name, &KnownKey::name);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

bool is_setting(const ModelLayout& layout, std::string_view name) {
  return std::ranges::find(layout.keys, name, &NamedSetting::theirs) != layout.keys.end();
}

/// Returns whether a row names a key inside the object `name`.
bool is_object_of_keys(const ModelLayout& layout, const std::string& name) {
  const auto inside = [begin = name + "."](const auto& row, auto member) {
    return std::string_view(row.*member).starts_with(begin);
  };
  return std::ranges::any_of(layout.keys,
                             [&](const auto& row) { return inside(row, &NamedSetting::theirs); }) ||
         std::ranges::any_of(layout.known,
                             [&](const auto& row) { return inside(row, &KnownKey::name); });
}

/// The largest relative difference of two numbers that mean the same: files round.
constexpr double kRounding = 1e-5;

bool is_accepted(const KnownKey& key, const Json& value, const TransformerConfig& config) {
  const Json accepted = Json::parse(key.accepted);
  if (std::ranges::count(accepted.items(), value) > 0) return true;
  const bool may_be_true = key.ignores_true != nullptr && key.ignores_true(config);
  if (may_be_true && value == Json(true)) return true;
  if (key.computed == nullptr || !value.is_number()) return false;
  const double right = key.computed(config);
  return std::abs(value.number() - right) <= kRounding * right;
}

/// Returns "1 or null": the accepted values.
std::string accepted_text(const KnownKey& key, const TransformerConfig& config) {
  std::vector<std::string> values;
  if (key.computed != nullptr) values.push_back(Json(key.computed(config)).dump());
  const Json accepted = Json::parse(key.accepted);
  for (const Json& value : accepted.items()) values.push_back(value.dump());
  return join(values, " or ");
}

void check_key(const ModelLayout& layout, const std::string& name, const Json& value,
               const TransformerConfig& config) {
  if (is_setting(layout, name)) return;
  const KnownKey* key = known_key(layout, name);
  if (key == nullptr) {
    throw Error(text("unknown key ", name, " with the value ", shown(value),
                     ", which may change what the model computes"),
                text("if it does not change the logits, repeat with --ignore-key ", name));
  }
  if (key->use != KeyUse::only || is_accepted(*key, value, config)) return;
  throw Error(text(name, " is ", shown(value), ", but headlab computes only ",
                   accepted_text(*key, config), ": ", key->why));
}

/// Returns the keys of config.json with their values; of an object whose keys have rows,
/// "object.key".
std::vector<Json::Member> all_keys(const ModelLayout& layout, const Json& json) {
  std::vector<Json::Member> keys;
  for (const auto& [name, value] : json.members()) {
    const bool is_object = is_object_of_keys(layout, name);
    require(!is_object || value.is_null() || value.is_object(), name, " is ", shown(value),
            ", but an object or null was expected");
    if (!is_object) keys.emplace_back(name, value);
    if (!is_object || value.is_null()) continue;
    for (const auto& [inner, inner_value] : value.members()) {
      keys.emplace_back(name + "." + inner, inner_value);
    }
  }
  return keys;
}

void check_ignored(const ModelLayout& layout, const std::vector<Json::Member>& keys,
                   const std::string& name) {
  if (is_setting(layout, name) || known_key(layout, name) != nullptr) {
    throw Error(text("cannot ignore the key ", name, ": headlab knows what it means"),
                "edit config.json instead: --ignore-key is for keys that headlab does not know");
  }
  const bool is_there = std::ranges::find(keys, name, &Json::Member::first) != keys.end();
  if (!is_there) {
    throw Error(text("cannot ignore the key ", name, ": config.json does not have it"),
                "leave out --ignore-key " + name);
  }
}

// ---- windows

/// Returns the window, or none if no sequence fills it.
Index shortened(Index window, const TransformerConfig& config) {
  return window >= config.length ? 0 : window;
}

Index window_at(const Json& json, const char* key) {
  const Json value = value_at(json, key);
  if (value.is_null()) return 0;
  const bool is_whole = value.is_number() && value.number() >= 1 && value.number() < 1e15 &&
                        value.number() == static_cast<double>(static_cast<Index>(value.number()));
  require(is_whole, key, " is ", shown(value), ", but a number of positions was expected");
  return value.integer();
}

/// Returns for each layer whether the list at `key` says `local` and not `global`.
std::vector<bool> local_layers(const Json& json, const char* key, const TransformerConfig& config,
                               std::string_view local, std::string_view global) {
  const Json types = value_at(json, key);
  require(types.is_array() && std::ssize(types.items()) == config.layers, key, " is ", shown(types),
          ", but a list with a word for each of ", config.layers, " layers was expected");
  std::vector<bool> is_local;
  for (const Json& type : types.items()) {
    const bool is_known = type == Json(local) || type == Json(global);
    require(is_known, key, " has ", shown(type), ", but headlab computes only \"", local,
            "\" and \"", global, "\"");
    is_local.push_back(type == Json(local));
  }
  return is_local;
}

std::vector<Index> windows_where(const std::vector<bool>& is_local, Index window) {
  std::vector<Index> windows;
  for (const bool local : is_local) windows.push_back(local ? window : 0);
  return windows;
}

/// Returns the windows of Hugging Face: layer_types, else the layers from max_window_layers on.
std::vector<Index> sliding_windows(const Json& json, const TransformerConfig& config) {
  const Json off = value_at(json, "use_sliding_window");
  require(off.is_null() || off.is_bool(), "use_sliding_window is ", shown(off),
          ", but true or false was expected");
  const Index window = off == Json(false) ? 0 : window_at(json, "sliding_window");
  std::vector<bool> is_local;
  if (!value_at(json, "layer_types").is_null()) {
    is_local = local_layers(json, "layer_types", config, "sliding_attention", "full_attention");
    require(window > 0 || std::ranges::count(is_local, true) == 0, "layer_types has \"",
            "sliding_attention\", but there is no sliding_window");
  } else {
    const Json first = value_at(json, "max_window_layers");
    for (Index layer = 0; layer < config.layers; ++layer) {
      is_local.push_back(first.is_null() || layer >= first.integer());
    }
  }
  return windows_where(is_local, shortened(window, config));
}

/// Returns the windows of TransformerLens: attn_types counts only with use_local_attn.
std::vector<Index> local_windows(const Json& json, const TransformerConfig& config) {
  const Json is_on = value_at(json, "use_local_attn");
  require(is_on.is_null() || is_on.is_bool(), "use_local_attn is ", shown(is_on),
          ", but true or false was expected");
  if (is_on != Json(true)) return {0};
  require(
      value_at(json, "attention_dir") != Json("bidirectional"),
      "use_local_attn is true with attention_dir \"bidirectional\", where TransformerLens hides "
      "nothing: headlab does not compute it");
  const Index window = window_at(json, "window_size");
  require(window > 0, "use_local_attn is true, but there is no window_size");
  return windows_where(local_layers(json, "attn_types", config, "local", "global"),
                       shortened(window, config));
}

}  // namespace

Json value_at(const Json& json, std::string_view key) {
  const std::size_t dot = key.find('.');
  const Json* found = json.find(std::string(key.substr(0, dot)));
  if (found == nullptr || dot == key.npos) return found == nullptr ? Json() : *found;
  return found->is_object() ? value_at(*found, key.substr(dot + 1)) : Json();
}

const Family* family_of(const ModelLayout& layout, const Json& json) {
  if (layout.families.empty()) return nullptr;
  const Json type = value_at(json, "model_type"), classes = value_at(json, "architectures");
  require(classes.is_null() || classes.is_array(), "architectures is ", shown(classes),
          ", but a list was expected");
  const bool names_class = !classes.is_null() && !classes.items().empty();
  const std::string known =
      text("read are ", join(texts_of(layout.families, &Family::model_type), ", "));
  if (type.is_null() && !names_class) {
    throw Error("neither model_type nor architectures says which family this is",
                text("add \"model_type\" to config.json; ", known));
  }
  const auto found = std::ranges::find_if(layout.families, [&](const Family& one) {
    return type.is_null() ? classes.items().front() == Json(one.architecture)
                          : type == Json(one.model_type);
  });
  const auto unknown = [&](const char* key, const Json& value) {
    return Error(text(key, " ", shown(value), " is not read: headlab does not know its arithmetic"),
                 text(known,
                      "; if the model computes exactly what one of these does, name it in "
                      "config.json"));
  };
  if (found == layout.families.end()) {
    throw type.is_null() ? unknown("architectures", classes) : unknown("model_type", type);
  }
  const auto is_its_class = [&](const Json& one) { return one == Json(found->architecture); };
  if (names_class && !std::ranges::all_of(classes.items(), is_its_class)) {
    throw unknown("architectures", classes);
  }
  return &*found;
}

void check_keys(const ModelLayout& layout, const Json& json, const TransformerConfig& config,
                const std::vector<std::string>& ignored) {
  const std::vector<Json::Member> keys = all_keys(layout, json);
  for (const std::string& name : ignored) check_ignored(layout, keys, name);
  for (const auto& [name, value] : keys) {
    if (std::ranges::count(ignored, name) == 0) check_key(layout, name, value, config);
  }
}

std::vector<Index> windows_of(const ModelLayout& layout, const Json& json,
                              const TransformerConfig& config) {
  if (layout.own_names) return local_windows(json, config);
  return known_key(layout, "sliding_window") != nullptr ? sliding_windows(json, config)
                                                        : std::vector<Index>{0};
}

void check_windows(const Family& family, const std::vector<Index>& windows) {
  const Index widest = windows.empty() ? 0 : std::ranges::max(windows);
  if (family.windows == FamilyWindows::none && widest > 0) {
    throw Error(text("sliding_window is ", widest, ", but models of the model_type ",
                     family.model_type, " have no windows"),
                "take sliding_window and layer_types out of config.json, or name the model_type of "
                "a family with windows, such as \"mistral\"");
  }
  if (family.windows == FamilyWindows::all_layers &&
      std::ranges::count(windows, widest) < std::ssize(windows)) {
    throw Error(text("layer_types names layers without a window, but in models of the model_type ",
                     family.model_type, " all layers have it"),
                "take layer_types out of config.json");
  }
}

}}  // namespace headlab
