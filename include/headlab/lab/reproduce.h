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
  Index examples = 512;  // on which heads are chosen, and others on which they are judged
  Index stages = 5;      // points in training at which prunability is measured
  /// Whether to measure that at all: it trains the model once more from its start.
  bool retrain = true;
  TimingOptions timing{};
  std::function<void(const std::string&)> progress{};
  std::function<bool()> should_stop{};  // asked between the parts: what is done is reported
  std::optional<Curve> known_curve{};   // of an earlier report, with the same options: taken over
  std::vector<PrunedAtStep> known_steps{};  // so
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
/// What a kept report says of pruning on the way: its "by_step".
std::vector<PrunedAtStep> pruned_steps_of(const Json& json);

/// Error for a model without heads.
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
  /// gates and the fine-tuning took together; none until that is done.
  std::optional<Judged> from_scratch{};
  std::vector<RoleDrift> drift{};
};

/// The two trainings of a penalty: of gates, which goes on without them, and of what they left,
/// from scratch.
enum class VoitaMethod { gates, from_scratch };

struct VoitaReport;

struct VoitaOptions {
  std::vector<double> penalties = {0.01, 0.03, 0.1, 0.2, 0.4};
  PruneSettings settings{};  // the penalty is that of the row
  Index finetune = 0;        // steps of training after the closed gates are gone
  std::function<void(const std::string&)> progress{};
  std::function<bool()> should_stop{};  // asked between the trainings: what is done is reported
  /// Which trainings are to be done, by place in `penalties`; all if empty. One from scratch whose
  /// gates are not known does these first.
  std::function<bool(std::size_t penalty, VoitaMethod method)> wanted{};
  /// Asked before each training, as others may be at the rest: rows of the same run and options.
  std::function<std::vector<PenaltyRow>()> known{};
  /// Told after each training: all that there is so far.
  std::function<void(const VoitaReport&)> after_training{};
};

struct VoitaReport {
  std::vector<std::string> attention;
  Index heads = 0, needed = 0;  // needed: as the task says; 0 where it does not
  Judged full, none;
  std::vector<PenaltyRow> rows;  // in the order of the penalties
  std::size_t chosen = 0;  // the row with the fewest survivors whose loss passes the knee's limit
  bool complete = true;    // false: there are trainings that nobody did yet
};
Json to_json(const VoitaReport& report);
/// The inverse, for reports that were kept. Error for other JSON.
VoitaReport voita_of(const Json& json);

/// Takes over the rows of another report of the same run and options, `others`, as far as this one
/// lacks them, and says anew which is chosen and whether it is complete.
void add_rows(VoitaReport& report, const std::vector<PenaltyRow>& others,
              std::span<const double> penalties);

/// Error for a model without heads.
VoitaReport reproduce_voita(const Run& run, const VoitaOptions& options = {});

// ---- over several runs, that differ in their seeds, say

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
/// Errors: no report, incomplete ones, or other penalties.
std::vector<PenaltyOverRuns> penalties_over_runs(std::span<const VoitaReport> reports);
Json to_json(const PenaltyOverRuns& row);

/// A share of heads that go, at the end of training.
struct ShareOverRuns {
  double share = 0;
  Interval loss{}, accuracy{};
};
/// Of the "by_step" of kept reports; empty where they have none. Errors: no report, other shares.
std::vector<ShareOverRuns> shares_over_runs(std::span<const std::vector<PrunedAtStep>> runs);
Json to_json(const ShareOverRuns& row);

}  // namespace headlab
