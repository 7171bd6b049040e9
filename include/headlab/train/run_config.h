// Every setting of a run: what config.json holds. One flat table serves files, the command line and
// sweeps. Some settings follow from the task: the model is fitted to it.
// Read next: run.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headlab/model/transformer.h"
#include "headlab/tasks/task.h"
#include "headlab/train/config.h"

namespace headlab {

struct RunConfig {
  std::string task = "relations";  // "NAME:parameters"
  TransformerConfig model;
  TrainConfig train;
  /// Steps between scores of all heads (heads/tracking.h); 0: never. Kept with the run, so that a
  /// run that resumes goes on with it. Each scoring runs the model on 128 sequences.
  Index track_heads = 0;
  /// Weights over training that the run keeps (snapshots.h), at most; 0: none. Each takes as much
  /// disk, and until the run is saved as much memory, as model.safetensors.
  Index keep_weights = 0;
  std::string parent;     // the run that this one was made from, by pruning
  std::string data_hash;  // of the task's data file
  std::string pruning;    // how it was made from its parent: "method=greedy keep=4 seed=0 ..."
  /// The `steps` that were planned before the run was told to go on further, in order, "3000 4000";
  /// "?" where that was in the middle of what was planned.
  std::string extended;
  /// The layout of the model that this run was imported from. Its initial values are not known, so
  /// nothing is compared with them. Empty if headlab initialised the model.
  std::string imported;

  /// Error that says what is out of range, does not fit together, or does not fit into memory.
  void validate() const;
  friend bool operator==(const RunConfig&, const RunConfig&) = default;
};

/// The settings of a run as one flat table, bound to `config`. The second is for command
/// lines: it leaves out what the task decides (architecture, vocab, lengths, targets) and what
/// pruning writes.
Settings settings_of(RunConfig& config);
Settings user_settings_of(RunConfig& config);

/// Sets those that the object in a config.json names, which a version of old may have written.
void read_settings(RunConfig& config, Json settings, const std::string& file);

/// The settings that may change when a run goes on: how long it trains, and when it is looked at.
const std::vector<std::string>& resumable_settings();
/// A checksum of all other settings that differ from their defaults, without the history
/// `extended`. State and model carry it, so that the files of two runs cannot be mixed; a setting
/// that a later version adds does not change it.
std::string identity_of(const RunConfig& config);

/// Makes the task and fits the model to it: architecture, vocab, lengths, targets, data_hash.
std::unique_ptr<Task> fit_to_task(RunConfig& config);
/// Sets d_head = floor(d_model / heads) where the heads do not divide d_model and it is not given.
void fit_heads(TransformerConfig& model);
/// The recommended settings of a task on top of the defaults. Error for an unknown task.
RunConfig recommended_config(const std::string& task);

/// The model of a run before its first step; `config` has been fitted to its task.
Transformer initial_model(const RunConfig& config);

/// Bytes that a step holds at least: tokens and targets of the batch, and of one micro-batch what
/// the backward pass needs (the inputs of the layer norms, of attention and of the feed-forward
/// network, and the logits).
double step_bytes(const TransformerConfig& model, const TrainConfig& train);
/// Bytes of the weight matrices with what belongs to them: gradients, moments, and the copy of
/// weights and moments that a save writes.
double parameter_bytes(const TransformerConfig& model, const TrainConfig& train);
/// Both: what a process that trains a run holds at least.
inline double training_bytes(const RunConfig& config) {
  return step_bytes(config.model, config.train) + parameter_bytes(config.model, config.train);
}
/// Error if both are more than `available` bytes; 0: the memory of this machine, if the system
/// tells it.
void require_memory(const TransformerConfig& model, const TrainConfig& train, double available = 0);

}  // namespace headlab
