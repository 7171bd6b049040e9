// Conversion between the config.json of a layout and headlab's settings. Export writes config.json,
// reads it back, and refuses the model if a setting then differs, so no setting is lost.
// Read next: layout_reading.cc; layouts.cc.
#include <algorithm>
#include <cmath>

#include "headlab/core/base/error.h"
#include "lab/layouts/layout_table.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

std::string word_text(const Json& value) {
  return value.is_string() ? value.string() : value.dump();
}

/// Returns a layout's value as headlab's value.
Json our_value(const NamedSetting& key, const Json& value) {
  bool has_words = false;
  for (const Word& word : kWords) {
    if (word.setting != key.ours) continue;
    has_words = true;
    if (word.theirs == word_text(value)) return std::string(word.ours);
  }
  require(!has_words, key.theirs, " is ", value.dump(), ", which headlab does not compute");
  return value;
}

/// Returns headlab's value as a layout's value.
Json their_value(const ModelLayout& layout, const NamedSetting& key, const Json& value) {
  if (key.if_null != nullptr && value == Json(key.if_null)) return Json();
  bool has_words = false;
  for (const Word& word : kWords) {
    if (word.setting != key.ours) continue;
    has_words = true;
    if (word.ours == word_text(value) && word.setting == "biases") return value == Json("on");
    if (word.ours == word_text(value)) return std::string(word.theirs);
  }
  require(!has_words, "cannot export: the layout ", layout.name, " cannot say ", key.ours, "=",
          word_text(value));
  return value;
}

/// Removes the heads that `pruned` names, {"0": [1, 2]}, from the attention layers.
void set_pruned(TransformerConfig& config, const Json& pruned) {
  for (const AttentionSlot& slot : config.attention_slots()) {
    const Json* gone = pruned.find(text(slot.layer));
    if (gone == nullptr || gone->items().empty()) continue;
    std::vector<std::int32_t> kept;
    for (std::int32_t head = 0; head < config.heads_of(slot.layer); ++head) {
      if (std::ranges::count(gone->items(), Json(head)) == 0) kept.push_back(head);
    }
    config.attention.emplace_back(slot.name, kept);
  }
}

/// Returns the same config in the shortest form: what a setting is by itself is not named.
TransformerConfig shortest(TransformerConfig c) {
  const auto one = [](std::vector<Index>& values) {
    if (std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end()) values.resize(1);
  };
  one(c.heads);
  one(c.window);
  if (c.attention_function == AttentionFunction::softmax_composed) {
    c.attention_function = AttentionFunction::softmax;  // the same function
  }
  if (c.d_value == c.d_head_of(0)) c.d_value = 0;
  if (c.d_head * c.heads_of(0) == c.d_model) c.d_head = 0;
  if (c.kv_heads == c.heads_of(0)) c.kv_heads = 0;
  if (c.positions != Positions::rotary) c.rotary_base = TransformerConfig().rotary_base;
  if (c.d_ff == 0) c.activation = Activation::gelu;
  if (c.norm == NormType::none) {
    c.norm_eps = TransformerConfig().norm_eps;
    c.norm_place = NormPlace::pre;
  }
  c.dropout = 0;
  c.init = InitialValues::uniform;
  return c;
}

Json pruned_of(const TransformerConfig& config, const AttentionSlot& slot) {
  Json::Array gone;
  for (const auto& [attention_layer, kept] : config.attention) {
    for (std::int32_t head = 0; attention_layer == slot.name && head < config.heads_of(slot.layer);
         ++head) {
      if (std::ranges::count(kept, head) == 0) gone.push_back(head);
    }
  }
  return gone;
}

/// Throws an Error that names what config.json does not say of a model.
void require_sayable(const ModelLayout& layout, const Json& json, TransformerConfig config) {
  TransformerConfig said = description_of(layout, json, config.biases).config;
  config = shortest(config);
  const Settings ours = settings_of(config), theirs = settings_of(said);
  std::vector<std::string> lost;
  for (const Setting& setting : ours.all()) {
    if (const Json value = setting.get(); value != theirs.find(setting.name)->get()) {
      lost.push_back(text(setting.name, "=", value.is_string() ? value.string() : value.dump()));
    }
  }
  require(lost.empty(), "cannot export: the layout ", layout.name, " cannot say ",
          join(lost, ", "));
}

/// Returns config.json with the values that its family sets if a key is missing.
Json with_defaults(Json json, const Family* family) {
  if (family == nullptr) return json;
  const Json defaults = Json::parse(family->defaults);
  for (const auto& [key, value] : defaults.members()) {
    const bool is_named = json.find(key) != nullptr;
    const bool is_inside = !value_at(json, "rope_parameters." + key).is_null();
    if (!is_named && !is_inside) json[key] = value;
  }
  return json;
}

constexpr std::string_view kBiases = "biases";

/// Returns the hint if a key is missing. nanoGPT always writes `bias`; minGPT and others use the
/// same names of tensors and have no such key, but they compute another gelu.
std::string hint_without(const NamedSetting& key) {
  if (key.ours != kBiases) return "";
  return text("nanoGPT writes it. For minGPT, build-nanogpt and llm.c add \"", key.theirs,
              "\": true and \"activation_function\": \"gelu_new\" to config.json");
}

/// Sets what the keys name. Error for a key that is missing, or two that do not agree.
void set_named(const ModelLayout& layout, const Json& json, TransformerConfig& config) {
  constexpr std::string_view kNeeded[] = {"layers", "heads", "d_model", "length", "vocab"};
  const Settings settings = settings_of(config);
  std::vector<const NamedSetting*> used;
  for (const NamedSetting& key : layout.keys) {
    const Json value = value_at(json, key.theirs);
    const bool is_named = key.theirs == std::string_view(layout.known_by) || key.ours == kBiases ||
                          std::ranges::count(kNeeded, key.ours) > 0;
    if (value.is_null() && is_named) {
      throw Error(text("the key ", key.theirs, " is missing"), hint_without(key));
    }
    const bool is_null = value.is_null() && json.find(key.theirs) != nullptr;
    if (is_null && key.if_null != nullptr) {
      settings.set(key.ours, key.if_null);
      continue;
    }
    require(!is_null || key.may_be_null, key.theirs, " is null, which headlab does not compute");
    if (value.is_null()) continue;
    const auto other = std::ranges::find_if(used, [&](const NamedSetting* one) {
      return one->ours == std::string_view(key.ours);
    });
    require(other == used.end() || value_at(json, (*other)->theirs) == value, key.theirs, " is ",
            value.dump(), ", but another key of the same meaning has another value");
    used.push_back(&key);
    in_context(key.theirs, [&] { settings.set(key.ours, our_value(key, value)); });
  }
}

/// Returns the value at `key`. Error unless it is true, false or null (`if_null`).
bool flag_at(const Json& json, const char* key, bool if_null) {
  const Json value = value_at(json, key);
  require(value.is_null() || value.is_bool(), key, " is ", value.dump(),
          ", but true or false was expected");
  return value.is_null() ? if_null : value.boolean();
}

/// Groups of biases that exist. Error for a key that says true although the family has no such
/// biases.
std::vector<BiasGroup> bias_groups(const Family& family, const Json& json) {
  const BiasKeys& keys = family.biases;
  const std::pair<BiasGroup, const char*> all[] = {{BiasGroup::query_key_value,
                                                    keys.query_key_value},
                                                   {BiasGroup::attention_output,
                                                    keys.attention_output},
                                                   {BiasGroup::network, keys.network}};
  std::vector<BiasGroup> groups;
  std::vector<std::string_view> used;
  for (const auto& [group, key] : all) {
    if (key == nullptr) continue;
    used.push_back(key);
    if (key == std::string_view(kAlways) || flag_at(json, key, false)) groups.push_back(group);
  }
  for (const char* key : {"attention_bias", "mlp_bias", "use_bias"}) {
    const bool is_used = std::ranges::count(used, key) > 0;
    require(is_used || !flag_at(json, key, false), key, " is true, but ", family.model_type,
            " has no such biases");
  }
  return groups;
}

/// Sets for TransformerLens whether there is a feed-forward network, and whether it has a gate.
void set_network(const Json& json, TransformerConfig& config) {
  const bool is_gated = flag_at(json, "gated_mlp", false);
  if (flag_at(json, "attn_only", false)) {
    config.d_ff = 0;
  } else if (config.d_ff == 0) {
    config.d_ff = 4 * config.d_model;
  }
  if (config.d_ff == 0) return;
  require(!value_at(json, "act_fn").is_null(), "the key act_fn is missing");
  const bool has_gate = kind_of(config.activation).matrices == 3;
  require(is_gated == has_gate, "act_fn is ", value_at(json, "act_fn").dump(), " with gated_mlp ",
          is_gated ? "true" : "false", ", which headlab does not compute");
}

/// Sets for TransformerLens which keys a query sees, and the outputs if they are no tokens.
void set_task(const Json& json, TransformerConfig& config) {
  const Json direction = value_at(json, "attention_dir");
  const bool is_encoder = direction == Json("bidirectional");
  require(direction.is_null() || is_encoder || direction == Json("causal"), "attention_dir is ",
          direction.dump(), ", but headlab computes only \"causal\" and \"bidirectional\"");
  if (is_encoder) config.architecture = Architecture::encoder;
  const Json outputs = value_at(json, "d_vocab_out");
  const bool as_inputs = outputs.is_null() || outputs == Json(-1);
  if (as_inputs) return;
  const bool is_whole = outputs.is_number() && outputs.number() >= 1 && outputs.number() < 1e9 &&
                        outputs.number() == std::floor(outputs.number());
  require(is_whole, "d_vocab_out is ", outputs.dump(), ", but a number of outputs was expected");
  const Index answers = outputs.integer();
  if (answers != config.vocab) settings_of(config).set("answers", answers);
}

/// Keys of export that are not one setting each.
void add_more_keys(const ModelLayout& layout, const TransformerConfig& config, Json& json) {
  const std::vector<Index>& window = config.window;
  const Index widest = *std::ranges::max_element(window);
  if (layout.own_names) {
    const bool is_encoder = config.architecture == Architecture::encoder;
    if (is_encoder) json["attention_dir"] = "bidirectional";
    if (config.answers > 0) json["d_vocab_out"] = config.answers;
    json["gated_mlp"] = config.d_ff > 0 && kind_of(config.activation).matrices == 3;
    json["attn_only"] = config.d_ff == 0;
    if (config.d_ff == 0) json["d_mlp"] = Json();
    const bool is_local = widest > 0 && !is_encoder;
    json["use_local_attn"] = is_local;
    if (is_local) json["window_size"] = widest;
    if (is_local) json["attn_types"] = Json::array();
    for (Index layer = 0; is_local && layer < config.layers; ++layer) {
      json["attn_types"].push_back(config.window_of(layer) > 0 ? "local" : "global");
    }
  }
  if (layout.biases_by_family) {
    json["attention_bias"] = config.biases;
    json["mlp_bias"] = config.biases;
  }
  const auto family =
      std::ranges::find(layout.families, FamilyWindows::all_layers, &Family::windows);
  if (widest > 0 && family != layout.families.end()) {
    json["model_type"] = family->model_type;
    json["architectures"] = Json::Array{family->architecture};
    json["sliding_window"] = widest;
  }
  if (&layout == kLayouts.data() && !config.attention.empty()) {
    for (const AttentionSlot& slot : config.attention_slots()) {
      json["pruned_heads"][text(slot.layer)] = pruned_of(config, slot);
    }
  }
}

}  // namespace

Description description_of(const ModelLayout& layout, const Json& json, bool file_has_biases,
                           const std::vector<std::string>& ignored) {
  Description about;
  about.family = family_of(layout, json);
  const Json full = with_defaults(json, about.family);
  TransformerConfig& config = about.config;
  config.biases = file_has_biases;
  settings_of(config).set_all_text(layout.settings);
  set_named(layout, full, config);
  if (layout.has_network && config.d_ff == 0) config.d_ff = 4 * config.d_model;
  check_keys(layout, json, config, ignored);
  config.window = windows_of(layout, full, config);
  if (about.family != nullptr) check_windows(*about.family, config.window);
  if (layout.biases_by_family) {
    about.biases = bias_groups(*about.family, full);
    config.biases = !about.biases.empty();
  }
  about.adjacent_pairs = about.family != nullptr && about.family->adjacent_pairs;
  if (layout.own_names) {
    set_network(full, config);
    set_task(full, config);
    about.adjacent_pairs = flag_at(full, "rotary_adjacent_pairs", false);
    const Json norm = value_at(full, "normalization_type");
    about.bare_norms = norm.is_string() && norm.string().ends_with("Pre");
  }
  if (const Json pruned = value_at(json, "pruned_heads"); !pruned.is_null()) {
    set_pruned(config, pruned);
  }
  config.validate();
  config = shortest(config);
  return about;
}

Json json_of(const ModelLayout& layout, const TransformerConfig& config) {
  TransformerConfig full = shortest(config);
  full.d_head = full.d_head_of(0);
  const Settings settings = settings_of(full);
  Json json = Json::parse(layout.also);
  for (const NamedSetting& key : layout.keys) {
    const bool is_inside = std::string_view(key.theirs).find('.') != std::string_view::npos;
    if (is_inside || !key.is_exported) continue;
    Json value = settings.find(key.ours)->get();
    if (std::string_view(key.ours) == "norm_eps") value = full.norm_eps;
    if (std::string_view(key.ours) == "heads") value = full.heads_of(0);
    json[key.theirs] = value == Json(0) ? Json() : their_value(layout, key, value);
  }
  add_more_keys(layout, full, json);
  require_sayable(layout, json, config);
  return json;
}

}}  // namespace headlab
