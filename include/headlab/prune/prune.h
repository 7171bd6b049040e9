// Pruning a run: choose heads by a method, remove them physically, fine-tune if asked, and say what
// it cost and saved. The pruned model is a run like any other. Read next: src/lab/prune/prune.cc,
// curve.h.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headlab/base/error.h"
#include "headlab/base/members.h"
#include "headlab/base/table.h"
#include "headlab/prune/methods.h"

namespace headlab {

/// Which heads go: those of `remove`, or as many as exactly one of keep, drop and max_loss_rise
/// says, chosen by `method`.
struct PruneOptions {
  std::string method = "greedy";
  std::optional<Index> keep{};            // heads left in the whole model
  std::optional<double> drop{};           // or: percent of its heads that go, rounded down
  std::optional<double> max_loss_rise{};  // or: the fewest heads that cost at most this, in nats
  std::vector<HeadId> remove{};           // chosen by hand: the method in results is then "hand"
  PruneSettings settings{};
  Index finetune = 0;    // steps of training after the removal; 0: none
  double lr = 0;         // of fine-tuning; 0: 0.3 times the run's
  bool force = false;    // replace the run at `out`
  bool measure = false;  // time the full, the masked and the removed model: some seconds
};

/// Loss (nats per target) and accuracy of a model on held-out examples.
struct Judged {
  double loss = 0, accuracy = 0;

  void members(auto&& f) { f("loss", loss), f("accuracy", accuracy); }
};
Judged judge(const Model& model, const Task& task, const EvaluateOptions& options);

/// A model as the pruning table shows it.
struct ModelFigures : Judged {
  Index parameters = 0;
  double ms_per_batch = 0;  // median of forward passes over 64 sequences

  void members(auto&& f) {
    Judged::members(f);
    f("parameters", parameters), f("ms_per_batch", ms_per_batch);
  }
};
ModelFigures measure_model(const Transformer& model, const Task& task, Index examples);

/// "method=greedy keep=4 seed=0 ...": the settings that decide what comes out, as settings text.
std::string pruning_text(const PruneOptions& options);

struct PruneResult {
  std::vector<std::string> attention;  // names of the attention modules: what HeadId::module counts
  std::vector<HeadId> kept, removed;
  /// `after` includes fine-tuning; without it, it equals removed_only.
  ModelFigures before, removed_only, after;
  std::optional<Table> timing{};  // if asked for
  /// The method l0: the final gate of each head that the run had, in the order of the model. A gate
  /// of 0 closed by itself; among the others the method chose by rank. Empty for other methods.
  std::vector<double> gates{};
  PruneOptions options{};
  Index steps = 0;        // of training that the run had
  Index gate_steps = 0;   // and its model after them, with gates
  Index finetuned = 0;    // steps of fine-tuning that were done
  std::string weights{};  // weights_hash of the pruned model as it is now
  /// What kept prune.json from being completed: the pruned run is whole all the same.
  std::optional<Error> unwritten{};

  void members(auto&& f) {
    f("attention", attention), f("kept", kept), f("removed_heads", removed), f("before", before);
    f("without_finetuning", removed_only), f("after", after), f("method", options.method);
    f("seed", options.settings.seed), f("examples", options.settings.examples);
    f("steps", steps), f("gate_steps", gate_steps);
    const std::string pruning = pruning_text(options);
    f("finetune", options.finetune), f("finetuned", finetuned), f("pruning", pruning);
    f("step", finetuned), f("weights", weights);
  }
};
/// Loss, accuracy, parameters and time per batch before and after, and the heads that are left.
Finding finding_of(const PruneResult& result);
Json to_json(const PruneResult& result);

/// After a pruned run has trained on: its figures in prune.json become those of its model now, and
/// the record counts as finished once all of the run's steps are done. Does nothing where there is
/// no prune.json.
void update_prune_record(const Run& run);

/// What stays of a model. Errors: not exactly one of keep, drop, max_loss_rise and remove; no size
/// keeps the loss within max_loss_rise; those of choose_heads(problem, method, sizes). The settings
/// of the problem count, not those of the options.
Choice choose_heads(const PruneProblem& problem, const PruneOptions& options);
/// The model with these heads alone, their matrices smaller.
Transformer remove_heads(const Transformer& model, std::span<const HeadId> kept);
/// What a choice leaves of a model, or of the one that its method trained.
Transformer pruned_model(const Transformer& model, const Choice& choice);

/// The settings of fine-tuning: those of the run with `steps`, a warm-up of at most a tenth of
/// them, and lr (0: 0.3 times the run's).
TrainConfig finetuning(const TrainConfig& trained, Index steps, double lr = 0);

/// The steps of training that the run's model had; of a pruned run, those before that too.
Index trained_steps(const Run& run);

/// A part of a training with one schedule of the learning rate. Each begins at step 0 with a new
/// optimizer, except one that resumes the part before.
struct TrainingStage {
  TrainConfig config;
  Index until = 0;       // the step after which it ended; config.steps unless it was stopped
  bool resumes = false;  // goes on from the step and the optimizer of the stage before
};
/// How the run's model was trained: its own stages, and before them those of the run that it was
/// pruned from. Error if that run is not there any more, or if the run was extended in the middle
/// of a schedule, which is not recorded.
std::vector<TrainingStage> training_stages(const Run& run);
/// What follows a run's training when its model is pruned: the training of gates, and fine-tuning.
/// Stages of 0 steps are left out.
std::vector<TrainingStage> later_stages(const Run& run, Index gate_steps, Index finetune);
/// "1,000 steps at a rate of 0.003, then 500 at 0.0009": the stages in words.
std::string schedule_text(std::span<const TrainingStage> stages);
/// Trains a model by these stages.
void train_by(Transformer& model, const Task& task, std::span<const TrainingStage> stages);
/// A model that has only these heads from the start: new initial values, and trained by the stages
/// of the run and then by `more`. With the same stages a pruned model and this one differ in
/// nothing but when heads were removed.
Transformer train_from_scratch(const Run& run, std::span<const HeadId> heads,
                               std::span<const TrainingStage> more = {});
/// The run's model with all its heads, trained on by `more`.
Transformer train_on(const Run& run, std::span<const TrainingStage> more);

// ---- what removal saves: a head whose gate is 0 costs as much as before, one that was removed
// nothing

struct TimingOptions {
  std::vector<Index> batches = {1, 4, 16, 64};
  Index turns = 15;  // of each batch size, after one warm-up
};
/// Median milliseconds of a batch, forward and backward, for each batch size: with all heads, with
/// gates that leave `kept`, with `kept` alone; of all attention modules alone; and the relative
/// difference of two timings of the full model in the same turns. All are timed in turns, so that
/// other load on the machine affects them alike. Error if `examples` holds fewer sequences than the
/// largest batch.
Table time_pruning(const Transformer& model, std::span<const HeadId> kept, const Batch& examples,
                   const TimingOptions& options = {});
Table timing_table();  // its columns

/// Prunes `run` into a new run at `out`; the old one is not touched. Errors, before anything is
/// written: those of choose_heads; `out` exists without `force` or is the run itself. `callbacks`
/// watch the fine-tuning. prune.json, beside the pruned model, holds the result; until the end of
/// the fine-tuning it says "unfinished", and "after" is the model without it.
PruneResult prune_run(const Run& run, const std::filesystem::path& out, const PruneOptions& options,
                      const RunCallbacks& callbacks = {});

}  // namespace headlab
