// Settings of a run, the content of config.json. One flat table serves files, the command line and
// sweeps. Some settings follow from the task: fit_to_task sets them. A new setting needs a row in
// settings_of. Read next: run.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headlab/core/model/transformer.h"
#include "headlab/core/tasks/task.h"
#include "headlab/core/train/config.h"

namespace headlab {

/// Extension of a run: `train --resume` with another number of steps.
struct Extension {
  Index from = 0;           // steps done before
  Index to = 0;             // steps planned from then on
  bool is_planned = false;  // whether `from` is the number of steps that was planned before

  void members(auto&& f) { f("from", from), f("to", to), f("is_planned", is_planned); }
  friend bool operator==(const Extension&, const Extension&) = default;
};

struct RunConfig {
  std::string task = "relations";  // "NAME:parameters"
  TransformerConfig model;
  TrainConfig train;
  /// Steps between scores of all heads (lab/heads/scores/tracking.h); 0: never. It is stored with
  /// the run, so a resumed run keeps it. Each scoring runs the model on 128 sequences.
  Index track_heads = 0;
  /// Maximum number of weight snapshots over training (snapshots.h); 0: none. Each takes the size
  /// of model.safetensors on disk and, until the run is saved, in memory.
  Index keep_weights = 0;
  /// Early stopping: the number of evaluations in succession without a lower held-out loss after
  /// which training ends; 0: never. The run then also keeps its best weights.
  Index patience = 0;
  std::string parent;     // the run from which pruning created this one
  std::string data_hash;  // of the task's data file
  std::string pruning;    // the pruning that created it: "method=greedy keep=4 seed=0 ..."
  std::vector<Extension> extended;  // in order
  /// Name of the run whose weights this one began with (`train --from`), and their hash. Empty if
  /// it began with initial values.
  std::string from, from_weights;
  /// Layout of the imported model. Its initial values are not known, so nothing is compared with
  /// them. Empty if headlab initialised the model.
  std::string imported;

  /// Throws an Error that names what is out of range, does not fit together, or does not fit into
  /// memory.
  void validate() const;
  friend bool operator==(const RunConfig&, const RunConfig&) = default;
};

/// Return the settings of a run as one flat table, bound to `config`. The second is for command
/// lines: it omits the settings that the task decides (architecture, vocab, lengths, targets) and
/// those that pruning writes.
Settings settings_of(RunConfig& config);
Settings user_settings_of(RunConfig& config);

/// Sets the settings of a config.json. `file` names it in errors.
void read_settings(RunConfig& config, const Json& settings, const std::string& file);

/// Returns the settings that may change when a run resumes: length of training, and times of
/// evaluation and saving.
const std::vector<std::string>& resumable_settings();
/// Returns a checksum of all other settings that differ from their defaults, without the history
/// `extended`. State and model contain it, so that files of two runs cannot be mixed. A setting
/// added by a later version does not change it.
std::string identity_of(const RunConfig& config);

/// Creates the task and fits the model to it: architecture, vocab, lengths, targets, data_hash.
std::unique_ptr<Task> fit_to_task(RunConfig& config);
/// Sets d_head = floor(d_model / heads) if the heads do not divide d_model and d_head is not given.
void fit_heads(TransformerConfig& model);
/// Returns a note if fit_heads left columns of d_model without a head; "" otherwise.
std::string head_width_note(const TransformerConfig& model);
/// Returns a sentence if the learning rate never reaches `lr` because the warm-up is longer than
/// the training; else "".
std::string warmup_note(const TrainConfig& config);
/// Returns a sentence if a run that resumes after `step` steps, with `now` instead of `before`,
/// changes its learning rate abruptly; else "".
std::string schedule_note(const TrainConfig& before, const TrainConfig& now, Index step);
/// Returns the defaults with the recommended settings of a task. Error for an unknown task.
RunConfig recommended_config(const std::string& task);

/// Returns the model of a run before its first step; `config` must be fitted to its task.
Transformer initial_model(const RunConfig& config);

/// Returns the minimum bytes that a step holds: tokens and targets of the batch, and for one
/// micro-batch the tensors that backward needs (inputs of the layer norms, of attention and of the
/// feed-forward network, and the logits).
double step_bytes(const TransformerConfig& model, const TrainConfig& train);
/// Returns the bytes of the weight matrices with their gradients, their moments, and the copy of
/// weights and moments that a save writes.
double parameter_bytes(const TransformerConfig& model, const TrainConfig& train);
/// Returns the sum of both: the minimum that a process training a run holds.
inline double training_bytes(const RunConfig& config) {
  return step_bytes(config.model, config.train) + parameter_bytes(config.model, config.train);
}
/// Throws an Error if the sum exceeds `available` bytes; 0: the memory of this machine, if the
/// system reports it.
void require_memory(const TransformerConfig& model, const TrainConfig& train, double available = 0);

}  // namespace headlab
