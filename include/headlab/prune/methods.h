// Which heads can go: each method turns a model into an order of removal. The table of methods
// drives help, errors and tests; a new method is a function and a row in src/prune/methods.cc. Read
// next: prune.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/base/random.h"
#include "headlab/heads/edits.h"
#include "headlab/tasks/task.h"

namespace headlab::inline HEADLAB_SCALAR {

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

}  // namespace headlab::inline HEADLAB_SCALAR
