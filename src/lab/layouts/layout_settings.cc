// What a layout can say of a model is what its config.json says when it is read back: export writes
// it, reads it, and refuses what then differs.
// Read next: layouts.cc.
#include <algorithm>

#include "headlab/base/error.h"
#include "layouts/layout_table.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

std::string word_text(const Json& value) {
  return value.is_string() ? value.string() : value.dump();
}

/// Their value as ours.
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

/// Ours as theirs.
Json their_value(const Layout& layout, const NamedSetting& key, const Json& value) {
  bool has_words = false;
  for (const Word& word : kWords) {
    if (word.setting != key.ours) continue;
    has_words = true;
    if (word.ours == word_text(value) && word.setting == "biases") return value == Json("on");
    if (word.ours == word_text(value)) return std::string(word.theirs);
  }
  require(!has_words, "the layout ", layout.name, " cannot say ", key.ours, "=", word_text(value));
  return value;
}

/// Attention modules without the heads that `pruned` names, {"0": [1, 2]}.
void set_pruned(TransformerConfig& config, const Json& pruned) {
  for (const AttentionPlace& place : config.attention_places()) {
    const Json* gone = pruned.find(text(place.layer));
    if (gone == nullptr || gone->items().empty()) continue;
    std::vector<std::int32_t> kept;
    for (std::int32_t head = 0; head < config.heads_of(place.layer); ++head)
      if (std::ranges::count(gone->items(), Json(head)) == 0) kept.push_back(head);
    config.attention.emplace_back(place.name, kept);
  }
}

/// The same config in the shortest form: what a setting is by itself is not named.
TransformerConfig shortest(TransformerConfig c) {
  const auto one = [](std::vector<Index>& values) {
    if (std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end()) values.resize(1);
  };
  one(c.heads);
  one(c.window);
  if (c.attention_function == AttentionFunction::softmax_composed)
    c.attention_function = AttentionFunction::softmax;  // the same function
  if (c.d_value == c.d_head_of(0)) c.d_value = 0;
  if (c.d_head * c.heads_of(0) == c.d_model) c.d_head = 0;
  if (c.kv_heads == c.heads_of(0)) c.kv_heads = 0;
  if (c.positions != Positions::rotary) c.rotary_base = TransformerConfig().rotary_base;
  if (c.d_ff == 0) c.activation = Activation::gelu;
  c.dropout = 0, c.init = InitialValues::uniform;
  return c;
}

Json pruned_of(const TransformerConfig& config, const AttentionPlace& place) {
  Json::Array gone;
  for (const auto& [module, kept] : config.attention)
    for (std::int32_t head = 0; module == place.name && head < config.heads_of(place.layer); ++head)
      if (std::ranges::count(kept, head) == 0) gone.push_back(head);
  return gone;
}

/// Error that names what config.json does not say of a model.
void require_sayable(const Layout& layout, const Json& json, TransformerConfig config) {
  TransformerConfig said = config_of(layout, json, config.biases);
  config = shortest(config);
  const Settings ours = settings_of(config), theirs = settings_of(said);
  std::vector<std::string> lost;
  for (const Setting& setting : ours.all())
    if (const Json value = setting.get(); value != theirs.find(setting.name)->get())
      lost.push_back(text(setting.name, "=", value.is_string() ? value.string() : value.dump()));
  require(lost.empty(), "the layout ", layout.name, " cannot say ", join(lost, ", "));
}

}  // namespace

Json value_at(const Json& json, std::string_view key) {
  const std::size_t dot = key.find('.');
  const Json* found = json.find(std::string(key.substr(0, dot)));
  if (found == nullptr || dot == key.npos) return found == nullptr ? Json() : *found;
  return found->is_object() ? value_at(*found, key.substr(dot + 1)) : Json();
}

TransformerConfig config_of(const Layout& layout, const Json& json, bool biases) {
  constexpr std::string_view kNeeded[] = {"layers", "heads", "d_model", "length", "vocab"};
  TransformerConfig config;
  config.biases = biases;
  const Settings settings = settings_of(config);
  settings.set_all_text(layout.settings);
  for (const NamedSetting& key : layout.keys) {
    const Json value = value_at(json, key.theirs);
    if (key.ours == nullptr) {
      require(value.is_null() || value.dump() == key.required, key.theirs, " is ", value.dump(),
              ", but headlab computes ", key.required, " alone");
    } else if (!value.is_null()) {
      in_context(key.theirs, [&] { settings.set(key.ours, our_value(key, value)); });
    } else {
      require(std::ranges::count(kNeeded, key.ours) == 0, "the key ", key.theirs, " is missing");
    }
  }
  const Json turned = value_at(json, "rotary_dim");
  require(turned.is_null() || config.positions != Positions::rotary ||
              turned == Json(config.d_head_of(0)),
          "rotary_dim is ", turned.dump(), ", but headlab turns whole heads");
  if (layout.has_network && config.d_ff == 0) config.d_ff = 4 * config.d_model;
  if (const Json pruned = value_at(json, "pruned_heads"); !pruned.is_null())
    set_pruned(config, pruned);
  config.validate();
  return shortest(config);
}

Json json_of(const Layout& layout, const TransformerConfig& config) {
  TransformerConfig full = shortest(config);
  full.d_head = full.d_head_of(0);
  const Settings settings = settings_of(full);
  Json json = Json::parse(layout.also);
  for (const NamedSetting& key : layout.keys) {
    if (std::string_view(key.theirs).find('.') != std::string_view::npos) continue;
    if (key.ours == nullptr) {
      json[key.theirs] = Json::parse(key.required);
      continue;
    }
    Json value = settings.find(key.ours)->get();
    if (std::string_view(key.ours) == "norm_eps") value = full.norm_eps;
    if (std::string_view(key.ours) == "heads") value = full.heads_of(0);
    json[key.theirs] = value == Json(0) ? Json() : their_value(layout, key, value);
  }
  if (layout.own_names) {
    json["gated_mlp"] = kind_of(config.activation).matrices == 3;
    json["attn_only"] = config.d_ff == 0;
  }
  if (&layout == kLayouts.data() && !config.attention.empty())
    for (const AttentionPlace& place : config.attention_places())
      json["pruned_heads"][text(place.layer)] = pruned_of(config, place);
  require_sayable(layout, json, config);
  return json;
}

}}  // namespace headlab
