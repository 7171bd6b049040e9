// Pruning a run: choose heads by a method, remove them physically, fine-tune if asked, and say what
// it cost and saved. The pruned model is a run of its own, which every command accepts. Read next:
// methods.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headlab/base/json.h"
#include "headlab/prune/methods.h"
#include "headlab/train/run.h"

namespace headlab::inline HEADLAB_SCALAR {

struct PruneOptions {
  std::string method = "greedy";
  Index keep = 1;         // heads left in the whole model
  Index examples = 512;   // on which heads are chosen
  std::int64_t seed = 0;  // of the method `random`
  Index finetune = 0;     // steps of training after the removal
  double lr = 0;          // of fine-tuning; 0: 0.3 of the run's
  bool force = false;     // replace the run at `out`
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
  Json to_json() const;
};

/// Heads that `keep` leaves after the method's removals.
std::vector<HeadId> choose_heads(const PruneProblem& problem, const std::string& method,
                                 Index keep);
/// The model with these heads alone, their matrices smaller.
Transformer remove_heads(const Transformer& model, std::span<const HeadId> kept);

/// Prunes `run` into a new run at `out`; the old one is not touched. Errors, before anything is
/// written: an unknown method, keep above the number of heads or negative, `out` exists without
/// `force` or is the run itself. `callbacks` watch the fine-tuning.
PruneResult prune_run(Run& run, const std::filesystem::path& out, const PruneOptions& options,
                      const RunCallbacks& callbacks = {});

}  // namespace headlab::inline HEADLAB_SCALAR
