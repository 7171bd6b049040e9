// Names of heads and gates. A head is numbered by its attention layer in execution order and its
// original index, so the heads of a pruned model keep their names.
// Read next: include/headlab/lab/heads/causes/interventions.h, scores.cc.
#include "headlab/lab/heads/causes/interventions.h"

#include <algorithm>

namespace headlab {

Json to_json(const HeadId& id) { return Json::Array{id.attention_layer, id.head}; }

Json head_json(const HeadId& id, Json::Object more) {
  Json::Object members = {{"layer", id.attention_layer}, {"head", id.head}};
  std::ranges::move(more, std::back_inserter(members));
  return members;
}

HeadId head_of(const Json& json) {
  require(json.items().size() == 2, "a head must be [layer, head], got ", json.dump());
  return {json.items()[0].integer(), static_cast<std::int32_t>(json.items()[1].integer())};
}

std::vector<HeadId> heads_of(const Json& json) {
  return mapped(json.items(), [](const Json& head) { return head_of(head); });
}

std::string head_text(const HeadId& id) { return text(id.attention_layer, ".", id.head); }

std::vector<HeadId> all_heads(const HeadedModel& model) {
  std::vector<HeadId> heads;
  Index layer = 0;
  for (const auto& numbers : model.head_numbers()) {
    for (const std::int32_t head : numbers) heads.push_back({layer, head});
    ++layer;
  }
  return heads;
}

std::vector<HeadId> without(std::span<const HeadId> heads, const HeadId& gone) {
  std::vector<HeadId> rest(heads.begin(), heads.end());
  std::erase(rest, gone);
  return rest;
}

std::vector<std::string> attention_layer_names(const HeadedModel& model) {
  return texts_of(model.attention_layers(), &AttentionLayer::name);
}

Index slot_of(const HeadedModel& model, const HeadId& id) {
  const auto numbers = model.head_numbers();
  if (id.attention_layer >= 0 && id.attention_layer < std::ssize(numbers)) {
    const auto slot = std::ranges::find(numbers[id.attention_layer], id.head) -
                      numbers[id.attention_layer].begin();
    if (slot < std::ssize(numbers[id.attention_layer])) return slot;
  }
  const std::vector<std::string> known = texts_of(all_heads(model), head_text);
  throw Error(text("cannot find head ", head_text(id), " in the model"),
              known.empty() ? "it has no head at all" : "its heads: " + join(known, " "));
}

std::vector<HeadInterventions> gates_for(const HeadedModel& model, std::span<const HeadId> kept) {
  std::vector<HeadInterventions> interventions;
  Index layer = 0;
  for (const auto& numbers : model.head_numbers()) {
    Tensor gate = Tensor::zeros({std::ssize(numbers)});
    for (std::size_t h = 0; h < numbers.size(); ++h) {
      gate.data()[h] = std::ranges::count(kept, HeadId{layer, numbers[h]}) > 0 ? 1 : 0;
    }
    interventions.push_back({.gate = gate});
    ++layer;
  }
  return interventions;
}

}  // namespace headlab
