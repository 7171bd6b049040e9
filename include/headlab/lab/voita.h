// The pruning experiments of Voita et al. 2019, "Analyzing Multi-Head Self-Attention: Specialized
// Heads Do the Heavy Lifting, the Rest Can Be Pruned", on a model of ours: how many heads survive
// is a function of the penalty; of which type they are; how the pruned model compares with one that
// had these heads from the start; and who does which job before and after. The published numbers
// are those of other models and stand beside ours for their shape alone. Read next:
// report/reproduce_text.h.
#pragma once

#include <array>
#include <functional>

#include "headlab/heads/scores.h"
#include "headlab/prune/curve.h"

namespace headlab {

/// Gates trained with one penalty.
struct PenaltyRow {
  double penalty = 0;
  std::vector<HeadId> survivors{};  // gates above 0
  std::array<Index, 3> by_kind{};   // of them: self, encoder, cross (AttentionKind)
  Judged pruned{};                  // with weights that trained along
  Judged from_scratch{};            // the same heads, trained from initial values like the run
};

/// Who does a relation: the best head and its lift, before and after pruning.
struct RoleDrift {
  std::string relation;
  HeadId before, after;
  double lift_before = 0, lift_after = 0;
};

struct VoitaOptions {
  /// Two trainings for each: one of gates, one from scratch.
  std::vector<double> penalties = {0.01, 0.03, 0.1, 0.2, 0.4};
  PruneSettings settings{};  // the penalty is that of the row
  std::function<void(const std::string&)> progress{};
};

struct VoitaReport {
  std::vector<std::string> attention;
  Index heads = 0, needed = 0;  // needed: as the task says; 0 where it does not
  Judged full, none;
  std::vector<PenaltyRow> rows;
  std::size_t chosen = 0;  // the row with the fewest survivors whose loss passes the knee's limit
  std::vector<RoleDrift> drift;  // at the chosen row
};
Json to_json(const VoitaReport& report);

/// Error for a model without heads.
VoitaReport reproduce_voita(const Run& run, const VoitaOptions& options = {});

}  // namespace headlab
