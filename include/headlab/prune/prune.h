// Pruning a run: choose heads by a method, remove them physically, fine-tune if asked, and say what
// it cost and saved. The pruned model is a run of its own, which every command accepts. Read next:
// methods.h.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headlab/base/json.h"
#include "headlab/prune/methods.h"
#include "headlab/prune/timing.h"
#include "headlab/train/run.h"

namespace headlab {

/// How far, by one of the first three, and how.
struct PruneOptions {
  std::string method = "greedy";
  std::optional<Index> keep{};            // heads left in the whole model
  std::optional<double> drop{};           // or: percent of its heads that go, rounded down
  std::optional<double> max_loss_rise{};  // or: the fewest heads that cost at most this, in nats
  Index examples = 512;                   // on which heads are chosen
  std::int64_t seed = 0;                  // of random choices
  Index finetune = 0;                     // steps of training after the removal
  double lr = 0;                          // of fine-tuning; 0: 0.3 of the run's
  bool force = false;                     // replace the run at `out`
  Index per_layer_min = 0;                // heads that each attention module keeps
  Index gate_steps = 600;                 // of the methods that train gates
  double penalty = 0.2;                   // lambda of l0
  bool measure = false;                   // time the full, the masked and the removed model
};

/// A model as the pruning table shows it.
struct ModelFigures {
  double loss = 0, accuracy = 0;  // held out
  Index parameters = 0;
  double ms_per_batch = 0;  // median of forward passes over 64 sequences
  Json to_json() const;
};
ModelFigures measure_model(Transformer& model, const Task& task, Index examples);

struct PruneResult {
  std::vector<std::string> attention;  // names of the attention modules: what HeadId::layer counts
  std::vector<HeadId> kept, removed;
  ModelFigures before, removed_only,
      after;  // `after` includes fine-tuning; without it, it equals removed_only
  std::vector<PruneTiming> timing{};  // if asked for
  Json to_json() const;
};

/// What the methods are given when a run is pruned.
PruneProblem problem_of(Run& run, const PruneOptions& options);
/// What stays of a model. Errors: not exactly one of keep, drop and max_loss_rise; no size keeps
/// the loss within max_loss_rise; those of choose_heads(problem, method, sizes).
Choice choose_heads(const PruneProblem& problem, const PruneOptions& options);
/// The model with these heads alone, their matrices smaller.
Transformer remove_heads(const Transformer& model, std::span<const HeadId> kept);

/// The settings with which a pruned model trains on: `steps`, and lr (0: 0.3 of the run's).
TrainConfig finetuning(const TrainConfig& trained, Index steps, double lr = 0);

/// A model that has these heads from the start, with initial values of its own, trained as the run
/// was.
Transformer train_from_scratch(const Run& run, std::span<const HeadId> heads);

/// Prunes `run` into a new run at `out`; the old one is not touched. Errors, before anything is
/// written: those of choose_heads; `out` exists without `force` or is the run itself. `callbacks`
/// watch the fine-tuning.
PruneResult prune_run(Run& run, const std::filesystem::path& out, const PruneOptions& options,
                      const RunCallbacks& callbacks = {});

}  // namespace headlab
