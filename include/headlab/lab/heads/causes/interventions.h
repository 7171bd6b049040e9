// Names of single heads, and interventions on chosen heads. Every experiment that removes a head
// temporarily (ablation, pruning methods, subset search) is a set of gates on an unchanged model.
// Read next: core/nn/attention.h, the effect of an intervention; lab/prune/prune.h, which removes
// heads for good.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/model/transformer.h"

namespace headlab {

/// One head: the index of its attention layer in execution order, and its original index. JSON
/// calls the first "layer"; a decoder layer of an encoder-decoder has two attention layers.
struct HeadId {
  Index attention_layer = 0;
  std::int32_t head = 0;
  friend bool operator==(const HeadId&, const HeadId&) = default;
};

/// Returns [layer, head], the form in all files.
Json to_json(const HeadId& id);
/// Returns {"layer", "head"}, followed by more members.
Json head_json(const HeadId& id, Json::Object more);
/// Returns the head of an array [layer, head]. Error for anything else.
HeadId head_of(const Json& json);
inline void from_json(const Json& json, HeadId& id) { id = head_of(json); }
/// Returns the heads of a list of such arrays.
std::vector<HeadId> heads_of(const Json& json);
/// Returns the displayed name of a head: "0.2" is the head with original index 2 in attention layer
/// 0.
std::string head_text(const HeadId& id);
/// Returns the heads of a model, attention layer by attention layer.
std::vector<HeadId> all_heads(const HeadedModel& model);
/// Returns `heads` without one of them.
std::vector<HeadId> without(std::span<const HeadId> heads, const HeadId& gone);
/// Returns the names of the attention layers, which HeadId::attention_layer indexes.
std::vector<std::string> attention_layer_names(const HeadedModel& model);
/// Returns the index of a head in its attention layer. Error with the list of existing heads if
/// there is no such head.
Index slot_of(const HeadedModel& model, const HeadId& id);

/// Returns gates of shape [H] for each attention layer: 1 for the heads in `kept`, 0 for the
/// others.
std::vector<HeadInterventions> gates_for(const HeadedModel& model, std::span<const HeadId> kept);

}  // namespace headlab
