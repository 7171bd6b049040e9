// Names for single heads, and edits that act on chosen ones. Everything that asks "what if this
// head were gone?" (ablation, pruning methods, subset search) is a set of gates on an unchanged
// model. Read next: nn/attention.h for what an edit does, prune/prune.h for removing heads for
// good.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/base/error.h"
#include "headlab/model/transformer.h"

namespace headlab {

/// One head: the index of its attention module in execution order, and the number it was born with.
/// JSON calls it "layer"; in an encoder-decoder a layer of the decoder has two modules.
struct HeadId {
  Index module = 0;
  std::int32_t head = 0;
  friend bool operator==(const HeadId&, const HeadId&) = default;
};

/// [layer, head], as every file numbers heads.
Json to_json(const HeadId& id);
/// {"layer", "head"}, followed by more members.
Json head_json(const HeadId& id, Json::Object more);
/// The inverse of to_json. Error for anything else.
HeadId head_of(const Json& json);
inline void from_json(const Json& json, HeadId& id) { id = head_of(json); }
/// The inverse for a list of heads.
std::vector<HeadId> heads_of(const Json& json);
/// How a head is shown and named: "0.2", module 0, born as 2.
std::string head_text(const HeadId& id);
/// The heads that a model has, module by module.
std::vector<HeadId> all_heads(const HeadedModel& model);
/// `heads` without one of them.
std::vector<HeadId> without(std::span<const HeadId> heads, const HeadId& gone);
/// The names of the attention modules: what HeadId::module counts.
std::vector<std::string> module_names(const HeadedModel& model);
/// The place of a head in its module. Error that lists the heads there are, if it is not one.
Index place_of(const HeadedModel& model, const HeadId& id);

/// Gates of shape [H] for each attention module: 1 for the heads in `kept`, 0 for the others.
std::vector<HeadEdits> gates_for(const HeadedModel& model, std::span<const HeadId> kept);

}  // namespace headlab
