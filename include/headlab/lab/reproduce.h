// The experiments of two papers on a model of ours. Their published numbers are those of other
// models (WMT, BERT) and stand beside ours for their shape alone.
// Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than One?": which single heads
// matter, whether one head for each layer is enough, how far the heads go by importance, from when
// on in training they can go, and what that saves.
// Voita et al. 2019, "Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting,
// the Rest Can Be Pruned": how many heads survive as a function of the penalty, of which type they
// are, how the pruned model compares with one that had these heads from the start, and who does
// which job before and after. Read next: report/prune_text.h.
#pragma once

#include <array>
#include <functional>

#include "headlab/heads/ablation.h"
#include "headlab/heads/scores.h"
#include "headlab/prune/curve.h"
#include "headlab/prune/timing.h"

namespace headlab {

/// One attention module with a single head left, all other modules whole: the change of the
/// held-out loss when the head is chosen on the held-out examples themselves, and on training
/// examples.
struct OneHeadLeft {
  std::string module;
  HeadId in_sample, out_of_sample;
  double change_in_sample = 0, change_out_of_sample = 0;
};

/// A model that has trained for `step` steps, pruned by importance.
struct PrunedAtStep {
  Index step = 0;
  std::vector<Judged> by_share;  // one for each of MichelReport::shares
};

struct MichelOptions {
  Index examples = 512;  // on which heads are chosen, and others on which they are judged
  Index stages = 5;      // points in training at which prunability is measured
  /// Whether to measure that at all: it trains the model once more from its start.
  bool retrain = true;
  TimingOptions timing{};
  std::function<void(const std::string&)> progress{};
  std::function<bool()> should_stop{};  // asked between the parts: what is done is reported
};

struct MichelReport {
  AblationReport ablation;
  std::vector<OneHeadLeft> one_head;
  Curve curve;                                           // importance beside single ablation
  std::vector<double> shares = {0, 0.2, 0.4, 0.6, 0.8};  // of heads that go, rounded down
  std::vector<PrunedAtStep> by_step;
  std::vector<PruneTiming> timing;  // half of the heads removed, by importance
  bool complete = true;             // false: should_stop left out what is empty
};
Json to_json(const MichelReport& report);

/// Error for a model without heads.
MichelReport reproduce_michel(const Run& run, const MichelOptions& options = {});

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
  std::function<bool()> should_stop{};  // asked between the parts: what is done is reported
};

struct VoitaReport {
  std::vector<std::string> attention;
  Index heads = 0, needed = 0;  // needed: as the task says; 0 where it does not
  Judged full, none;
  std::vector<PenaltyRow> rows;
  std::size_t chosen = 0;  // the row with the fewest survivors whose loss passes the knee's limit
  std::vector<RoleDrift> drift;  // at the chosen row
  bool complete = true;          // false: should_stop left out penalties
};
Json to_json(const VoitaReport& report);

/// Error for a model without heads.
VoitaReport reproduce_voita(const Run& run, const VoitaOptions& options = {});

}  // namespace headlab
