// Every setting of a run: what config.json holds. One flat table, from which files, the command
// line and sweeps are read. The task decides some of them: the model is fitted to it. Read next:
// run.h.
#pragma once

#include <memory>
#include <string>

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
  std::string parent;     // the run that this one was made from, by pruning
  std::string data_hash;  // of the task's data file

  /// Error that says what is out of range, does not fit together, or does not fit into memory.
  void validate() const;
};

/// The settings of a run as one flat table, bound to `config`. The second is for command
/// lines: it leaves out what the task decides (architecture, vocab, lengths, targets) and what
/// pruning writes.
Settings settings_of(RunConfig& config);
Settings user_settings_of(RunConfig& config);

/// Makes the task and fits the model to it: architecture, vocab, lengths, targets, data_hash.
std::unique_ptr<Task> fit_to_task(RunConfig& config);
/// The recommended settings of a task on top of the defaults.
RunConfig recommended_config(const std::string& task);

/// The model of a run before its first step; `config` has been fitted to its task.
Transformer initial_model(const RunConfig& config);

}  // namespace headlab
