// A run is a folder: config.json (every setting), metrics.jsonl (an object for each evaluation),
// state.safetensors (all that resuming needs) and model.safetensors (its parameters, for others).
// Files are replaced as one step, so a run killed at any moment, in the middle of a save too,
// resumes bit for bit. Analysis adds its files to the folder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "headlab/train/trainer.h"

namespace headlab {

/// Every setting of a run; what config.json holds.
struct RunConfig {
  std::string task = "relations";  // "NAME:parameters"
  TransformerConfig model;
  TrainConfig train;
  std::string parent;     // the run that this one was made from, by pruning
  std::string data_hash;  // of the task's data file
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

struct Run {
  std::filesystem::path path;
  RunConfig config;
  std::unique_ptr<Task> task;
  Transformer model;
};

/// The files of a run.
std::filesystem::path config_file(const Run& run);
std::filesystem::path metrics_file(const Run& run);
std::filesystem::path heads_log_file(const Run& run);  // heads.jsonl: see heads/tracking.h
std::filesystem::path state_file(const Run& run);
std::filesystem::path model_file(const Run& run);

/// The objects of metrics.jsonl or heads.jsonl in order, each with its step; none if there is no
/// file. Ends before a line that a killed process left half.
std::vector<Json> read_log(const std::filesystem::path& file);

/// Error unless a run may be made at `path`: nothing is there, an empty folder, or, with `force`,
/// another run, or what was to become one. What killed writers left behind does not count.
void check_run_folder(const std::filesystem::path& path, bool force);
/// A new run with initial values, on disk from the start. Errors: an impossible config; `path`
/// exists (unless `force`, which replaces a run, and nothing but a run). Nothing is written before
/// all is checked.
Run create_run(const std::filesystem::path& path, RunConfig config, bool force);
/// A new run around a copy of a model that exists already: what pruning writes. Error if the task
/// asks for a model of another shape.
Run create_run(const std::filesystem::path& path, RunConfig config, const Transformer& model,
               bool force);
/// Writes config.json again, after run.config has changed.
void save_config(const Run& run);
/// Reads config.json. Errors: no run there, a damaged file.
RunConfig read_config(const std::filesystem::path& path);
/// Reads config and parameters. Errors: no run there, damaged files, or a data file that changed
/// since.
Run open_run(const std::filesystem::path& path);

struct TrainResult {
  bool finished = false;  // false: stopped by should_stop
  Index steps = 0;
  double seconds = 0;
  double tokens_per_s = 0;  // over all steps of this call
  Evaluation held_out;      // of the model as it is now
};

/// What an experiment adds to a run. `save` is called after each save.
struct RunCallbacks : TrainCallbacks {
  /// Before the state is loaded: add parameters here. Their moments are saved with the others.
  std::function<void(Trainer&)> prepare{};
  /// More tensors for state.safetensors, under names of your own. A new run has none of them yet.
  std::function<void(TensorFile&)> store_extra{};
  std::function<void(const TensorFile&)> load_extra{};
};

/// Trains the run on from its state to config.train.steps, with evaluations into metrics.jsonl and
/// saves; the callbacks come on top. Whatever a killed process left in the folder is cleared first.
/// Errors: those of Trainer::run, and a state file that is damaged or not this run's.
TrainResult train_run(Run& run, const RunCallbacks& callbacks = {});

}  // namespace headlab
