// Parts of the two papers' experiments, read back from what is kept of them. They are no
// findings: whoever asks for an experiment gets them together.
// Read next: reproduce_json.cc.
#pragma once

#include <span>
#include <vector>

#include "headlab/lab/reproduce.h"

namespace headlab {

Json to_json(const PenaltyRow& row);
Json to_json(const PrunedAtStep& stage);
/// The inverse, a row without the training from scratch.
PenaltyRow penalty_row_of(const Json& json);
/// The "by_step" of an object. Error unless each stage has a result for each of the shares.
std::vector<PrunedAtStep> pruned_steps_of(const Json& json, std::span<const double> shares);

}  // namespace headlab
