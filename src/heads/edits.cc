// Heads are numbered [attention module in execution order, number the head was born with]: a pruned
// model's heads keep their names.
// Read next: include/headlab/heads/edits.h, scores.cc.
#include "headlab/heads/edits.h"

#include <algorithm>

#include "headlab/base/error.h"

namespace headlab {

Json to_json(const HeadId& id) { return Json::Array{id.layer, id.head}; }

std::string head_text(const HeadId& id) { return text(id.layer, ".", id.head); }

std::vector<HeadId> all_heads(const Transformer& model) {
  std::vector<HeadId> heads;
  Index layer = 0;
  for (const auto& numbers : model.head_numbers()) {
    for (const std::int32_t head : numbers) heads.push_back({layer, head});
    ++layer;
  }
  return heads;
}

std::vector<std::string> module_names(const Transformer& model) {
  std::vector<std::string> names;
  for (const AttentionModule& module : model.attention_modules()) names.push_back(module.name);
  return names;
}

Index place_of(const Transformer& model, const HeadId& id) {
  const auto numbers = model.head_numbers();
  std::vector<std::string> known;
  for (std::size_t layer = 0; layer < numbers.size(); ++layer) {
    for (std::size_t place = 0; place < numbers[layer].size(); ++place) {
      const HeadId there{static_cast<Index>(layer), numbers[layer][place]};
      if (id == there) return static_cast<Index>(place);
      known.push_back(head_text(there));
    }
  }
  throw Error(text("the model has no head ", head_text(id)),
              known.empty() ? "it has no head at all" : "its heads: " + join(known, " "));
}

std::vector<HeadEdits> gates_for(const Transformer& model, std::span<const HeadId> kept) {
  std::vector<HeadEdits> edits;
  Index layer = 0;
  for (const auto& numbers : model.head_numbers()) {
    Tensor gate = Tensor::zeros({static_cast<Index>(numbers.size())});
    for (std::size_t h = 0; h < numbers.size(); ++h) {
      const bool open =
          std::find(kept.begin(), kept.end(), HeadId{layer, numbers[h]}) != kept.end();
      gate.data()[h] = open ? 1 : 0;
    }
    edits.push_back({.gate = gate});
    ++layer;
  }
  return edits;
}

}  // namespace headlab
