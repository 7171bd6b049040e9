// The experiments of two papers on a model of ours. Their published numbers are those of other
// models (WMT, BERT) and stand beside ours for their shape alone.
// Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than One?": which single heads
// matter, whether one head for each layer is enough, how far the heads go by importance, from when
// on in training they can go, and what that saves.
// Voita et al. 2019, "Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting,
// the Rest Can Be Pruned": how many heads survive as a function of the penalty, of which type they
// are, how the pruned model compares with one that had these heads from the start, and who does
// which job before and after. Read next: src/lab/reproduce.cc, report/prune_text.h.
#pragma once

#include <array>
#include <functional>
#include <optional>

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
  /// Training examples on which heads are chosen, and as many held-out ones to judge them. Time
  /// grows in proportion.
  Index examples = 512;
  Index stages = 5;  // points in training at which prunability is measured
  /// Whether to measure that at all: it trains the model once more from the start.
  bool retrain = true;
  TimingOptions timing{};
  std::function<void(const std::string&)> progress{};
  Keeping keeping{};  // of the curve and of the second training
};

struct MichelReport {
  AblationReport ablation;
  std::vector<OneHeadLeft> one_head;
  Curve curve;                                           // importance beside single ablation
  std::vector<double> shares = {0, 0.2, 0.4, 0.6, 0.8};  // of heads that go, rounded down
  std::vector<PrunedAtStep> by_step;
  std::vector<PruneTiming> timing;  // half of the heads removed, by importance
};
Json to_json(const MichelReport& report);

/// What can be made side by side: all but what is quick, and the timing.
std::vector<Cell> michel_cells(const std::vector<std::filesystem::path>& runs,
                               const MichelOptions& options);
/// Error for a model without heads. Throws Stopped.
MichelReport reproduce_michel(const Run& run, const MichelOptions& options = {});

/// Who does a relation: the best head and its lift, before and after pruning.
struct RoleDrift {
  std::string relation;
  HeadId before, after;
  double lift_before = 0, lift_after = 0;
};

/// Gates trained with one penalty.
struct PenaltyRow {
  double penalty = 0;
  std::vector<HeadId> survivors{};    // gates above 0
  std::array<Index, 3> by_kind{};     // of them: self, encoder, cross (AttentionKind)
  Judged pruned{};                    // with weights that trained along
  std::optional<Judged> finetuned{};  // trained on without gates, if that is asked
  /// The same heads, trained from initial values like the run and for as many steps as the run, the
  /// gates and the fine-tuning took together.
  Judged from_scratch{kUndefined, kUndefined};
  std::vector<RoleDrift> drift{};
};

struct VoitaOptions {
  std::vector<double> penalties = {0.01, 0.03, 0.1, 0.2, 0.4};
  PruneSettings settings{};  // the penalty is that of the row
  Index finetune = 0;        // steps of training after the heads with closed gates are removed
  std::function<void(const std::string&)> progress{};
  Keeping keeping{};  // of each training: of gates with what follows, and from scratch
};
/// Its settings as a table, bound to `options`, which must outlive it.
Settings settings_of(VoitaOptions& options);

struct VoitaReport {
  std::vector<std::string> attention;
  Index heads = 0, needed = 0;  // needed: as the task says; 0 where it does not
  Index steps = 0;              // of training behind each model at its end, gates included
  Judged full, none;
  std::vector<PenaltyRow> rows;  // in the order of the penalties
  /// The row with the fewest survivors whose loss is within the limit of knee_of (prune/curve.h);
  /// if there is none, the row with the lowest loss.
  std::size_t chosen = 0;
};
Json to_json(const VoitaReport& report);
/// All trainings of these runs: of gates, and of the surviving heads from scratch.
std::vector<Cell> voita_cells(const std::vector<std::filesystem::path>& runs,
                              const VoitaOptions& options);
/// Error for a model without heads. Throws Stopped.
VoitaReport reproduce_voita(const Run& run, const VoitaOptions& options = {});

// ---- over several runs, of different seeds for instance

/// One penalty over the runs.
struct PenaltyOverRuns {
  double penalty = 0;
  std::vector<Index> survivors{};     // of each run
  double median = 0;                  // of these
  Interval pruned{}, from_scratch{};  // of the loss, mean +- 95%
  std::optional<Interval> finetuned{};
  /// The loss of what gates left, fine-tuned where that was asked, less that from scratch, which
  /// trained for as many steps; run by run.
  PairedRuns against_scratch{};
};
/// Errors: no report, or other penalties.
std::vector<PenaltyOverRuns> penalties_over_runs(std::span<const VoitaReport> reports);
Json to_json(const PenaltyOverRuns& row);

/// A share of heads that go, at the end of training.
struct ShareOverRuns {
  double share = 0;
  Interval loss{}, accuracy{};
};
/// Of the by_step of reports; empty where they have none. Errors: no report, other shares.
std::vector<ShareOverRuns> shares_over_runs(std::span<const std::vector<PrunedAtStep>> runs);
Json to_json(const ShareOverRuns& row);

}  // namespace headlab
