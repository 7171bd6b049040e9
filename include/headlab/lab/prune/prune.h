// Pruning of a run: chooses heads by a method, removes them physically, fine-tunes if requested,
// and reports cost and savings. The pruned model is a run like any other. Read next:
// src/lab/prune/prune.cc, curve.h.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/lab/prune/methods.h"
#include "headlab/lab/results/members.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Heads to remove: those in `remove`, or a number given by exactly one of keep, drop and
/// max_loss_rise and chosen by `method`.
struct PruneOptions {
  std::string method = "greedy";
  std::optional<Index> keep{};   // number of heads to keep in the whole model
  std::optional<double> drop{};  // or: percentage of its heads to remove, rounded down
  std::optional<double>
      max_loss_rise{};  // or: keep the fewest heads whose loss rises at most this much, in nats
  std::vector<HeadId> remove{};  // chosen by hand: "method" in results is then "hand"
  PruneSettings settings{};
  Index finetune = 0;    // training steps after the removal; 0: none
  double lr = 0;         // learning rate of fine-tuning; 0: 0.3 times that of the run
  bool force = false;    // replace the run at `out`
  bool measure = false;  // time the full, the masked and the pruned model, which takes some seconds
};

/// Loss (nats per target) and accuracy of a model on held-out examples.
struct Judged {
  double loss = 0, accuracy = 0;

  void members(auto&& f) { f("loss", loss), f("accuracy", accuracy); }
};
Judged judge(const Model& model, const Task& task, const EvaluateOptions& options);

struct ModelFigures : Judged {
  Index parameters = 0;
  double ms_per_batch = 0;  // median over forward passes with 64 sequences

  void members(auto&& f) {
    Judged::members(f);
    f("parameters", parameters), f("ms_per_batch", ms_per_batch);
  }
};
ModelFigures measure_model(const Transformer& model, const Task& task, Index examples);

/// Returns "method=greedy keep=4 seed=0 ...": the settings that determine the result, as settings
/// text.
std::string pruning_text(const PruneOptions& options);

struct PruneResult {
  std::vector<std::string>
      attention;  // names of the attention layers, which HeadId::attention_layer indexes
  std::vector<HeadId> kept, removed;
  /// Properties before and after the removal; `after` includes fine-tuning and equals removed_only
  /// without it.
  ModelFigures before, removed_only, after;
  std::optional<Table> timing{};  // if requested
  /// Method l0: the final gate of each head of the original run, in the order of the model. A gate
  /// of 0 closed during training; among the others the method chose by rank. Empty for other
  /// methods.
  std::vector<double> gates{};
  PruneOptions options{};
  Index steps = 0;        // training steps of the original run
  Index gate_steps = 0;   // further training steps with gates
  Index finetuned = 0;    // fine-tuning steps done
  std::string weights{};  // weights_hash of the current pruned model
  /// The error that prevented prune.json from being completed; the pruned run itself is complete.
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
/// Returns loss, accuracy, parameters and time per batch before and after, and the heads kept.
Result result_of(const PruneResult& result);
Json to_json(const PruneResult& result);

/// Updates prune.json after further training of a pruned run: its figures become those of the
/// current model, and the record counts as finished once all steps of the run are done. Does
/// nothing if there is no prune.json.
void update_prune_record(const Run& run);

/// Chooses the heads to keep, with the settings of the problem rather than those of the options.
/// Errors: not exactly one of keep, drop, max_loss_rise and remove; no size keeps the loss within
/// max_loss_rise; those of choose_heads(problem, method, sizes).
Choice choose_heads(const PruneProblem& problem, const PruneOptions& options);
/// Returns the model with only these heads and smaller matrices.
Transformer remove_heads(const Transformer& model, std::span<const HeadId> kept);
/// Returns the model pruned to a choice, starting from the model trained by its method if there is
/// one.
Transformer pruned_model(const Transformer& model, const Choice& choice);

/// Returns the settings of fine-tuning: those of the run with `steps`, a warm-up of at most a tenth
/// of them, and lr (0: 0.3 times that of the run).
TrainConfig finetuning(const TrainConfig& trained, Index steps, double lr = 0);

/// Returns the training steps of the run's model; for a pruned run, including those before pruning.
Index trained_steps(const Run& run);

/// Part of a training with one schedule of the learning rate. Each part begins at step 0 with a new
/// optimizer, except one that resumes the part before.
struct TrainingStage {
  TrainConfig config;
  Index until = 0;       // last step; config.steps unless it was stopped
  bool resumes = false;  // continues from the step and the optimizer of the stage before
};
/// Returns the training stages of the run's model: those of the run it was pruned from, then its
/// own. Errors: that run does not exist any more; the run was extended in the middle of a schedule,
/// which is not recorded.
std::vector<TrainingStage> training_stages(const Run& run);
/// Returns the stages that follow a run's training when its model is pruned: the training of gates,
/// and fine-tuning. Stages of 0 steps are left out.
std::vector<TrainingStage> later_stages(const Run& run, Index gate_steps, Index finetune);
/// Returns a description of the stages: "1,000 steps at a rate of 0.003, then 500 at 0.0009".
std::string schedule_text(std::span<const TrainingStage> stages);
void train_by(Transformer& model, const Task& task, std::span<const TrainingStage> stages);
/// Returns a model that has only these heads from the start, with new initial values, trained by
/// the stages of the run and then by `more`. With the same stages, a pruned model and this one
/// differ only in when the heads were removed.
Transformer train_from_scratch(const Run& run, std::span<const HeadId> heads,
                               std::span<const TrainingStage> more = {});
/// Returns the run's model with all its heads, trained further by `more`.
Transformer train_on(const Run& run, std::span<const TrainingStage> more);

// ---- time saved by removal: a head whose gate is 0 still costs the same, a removed one costs
// nothing

struct TimingOptions {
  std::vector<Index> batches = {1, 4, 16, 64};
  Index turns = 15;  // measurements of each batch size, after one warm-up
};
/// Returns the median milliseconds of a batch, forward and backward, for each batch size: with all
/// heads, with gates that leave `kept`, with `kept` alone; for all attention layers alone; and the
/// relative difference of two timings of the full model. The variants are timed in turns, so that
/// other load on the machine affects all of them equally. Error if `examples` holds fewer sequences
/// than the largest batch.
Table time_pruning(const Transformer& model, std::span<const HeadId> kept, const Batch& examples,
                   const TimingOptions& options = {});
/// Median times of a batch, in ms.
struct TimedBatch {
  Index batch = 0;  // sequences
  double full_ms = 0, masked_ms = 0, removed_ms = 0;
  double repeated_ms = 0;  // the full model, timed again
  double attention_full_ms = 0, attention_removed_ms = 0;
};
Table timing_table(std::span<const TimedBatch> batches);

/// Prunes `run` into a new run at `out` without changing the old one. Errors, before anything is
/// written: those of choose_heads; `out` exists without `force` or is the run itself. `callbacks`
/// observe the fine-tuning. prune.json, in the folder of the pruned model, holds the result; until
/// the end of the fine-tuning it says "unfinished", and "after" is the model without it.
PruneResult prune_run(const Run& run, const std::filesystem::path& out, const PruneOptions& options,
                      const RunCallbacks& callbacks = {});

}  // namespace headlab
