// Which heads can go: each method turns a model into an order of removal. The table of methods
// drives help, errors and tests; a new method is a function and a row in src/prune/methods.cc. Read
// next: prune.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/base/random.h"
#include "headlab/model/transformer.h"
#include "headlab/tasks/task.h"

namespace headlab::inline HEADLAB_SCALAR {

/// One head: the index of its attention module in execution order, and the number it was born with.
struct HeadId {
  Index layer = 0;
  std::int32_t head = 0;
  friend bool operator==(const HeadId&, const HeadId&) = default;
};

/// The heads that a model has, module by module.
std::vector<HeadId> all_heads(const Transformer& model);

/// What a method works with. Heads are chosen on training examples; results are judged on held-out
/// ones.
struct PruneProblem {
  Transformer& model;
  const Task& task;
  Index examples = 512;
  std::int64_t seed = 0;  // of random choices
};

struct PruneMethod {
  const char* name;
  const char* summary;  // formula, source and cost in one line
  /// The first `count` heads to remove, in order.
  std::vector<HeadId> (*order)(const PruneProblem& problem, Index count);
};

std::span<const PruneMethod> prune_table();
/// Error that lists the known names and the nearest.
const PruneMethod& find_prune_method(const std::string& name);

/// Gates of shape [H] for each attention module: 1 for the heads in `kept`, 0 for the others.
std::vector<HeadEdits> gates_for(const Transformer& model, std::span<const HeadId> kept);

}  // namespace headlab::inline HEADLAB_SCALAR
