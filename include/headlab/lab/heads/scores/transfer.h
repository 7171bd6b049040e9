// Roles of heads before and after a change of task: which heads of a run that began with the
// weights of another one (`train --from`) still implement what they implemented there. Read next:
// scores.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/results/table.h"
#include "headlab/lab/runs/run.h"

namespace headlab {

/// A head in the run that the weights came from, and in the run that was trained from them.
struct TransferredHead {
  struct Role {
    std::string relation{};  // with the largest lift; "" if no relation applies to the head
    double lift = 0;         // NaN if there is no such relation
    bool owned = false;
  };
  HeadId head;
  Role before{}, after{};

  /// Returns whether the head owns the same relation, by name, in both runs.
  bool kept() const { return before.owned && after.owned && before.relation == after.relation; }
};

struct TransferReport {
  std::vector<std::string> attention{};
  std::string from{};  // name of the run before
  std::string task_before{}, task_after{};
  std::vector<TransferredHead> heads{};
  Index examples = 0;
};
Result result_of(const TransferReport& report);

/// Scores the heads of both runs, each on held-out examples of its own task. Errors: a run that
/// did not begin with the weights of another; a run before that is missing, or that has other
/// weights now.
TransferReport find_transfer(const Run& run, Index examples = 512);

}  // namespace headlab
