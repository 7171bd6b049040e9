// A run is a folder: config.json (every setting), metrics.jsonl (an object for each evaluation),
// state.safetensors (all that resuming needs) and model.safetensors (its parameters, for others);
// snapshots.safetensors (weights over training) where it is asked for.
// Files are replaced as one step, so a run killed at any moment, in the middle of a save too,
// resumes bit for bit. Analysis adds its files: JSON that begins with "headlab". Read next:
// run_config.h, trainer.h.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/table.h"
#include "headlab/train/run_config.h"
#include "headlab/train/trainer.h"

namespace headlab {

/// Held by who writes a run: see lock_run.
using RunLock = std::shared_ptr<const FileLock>;

struct Run {
  std::filesystem::path path;
  RunConfig config;
  std::unique_ptr<Task> task;
  Transformer model;
  RunLock lock{};  // from the first time that it is written
  Index step = 0;  // at which these parameters are; -1 where no state says it
  std::map<std::string, Index>
      lost{};  // lines that a log (metrics.jsonl ...) should have and lacks
};

/// "targets": name, loss, accuracy and number of targets for each.
Table target_table(const Evaluation& evaluation);

/// A fingerprint of all parameters, by name: 16 hexadecimal digits. What analysis finds carries it,
/// and the step, because it describes these weights and no others.
std::string weights_hash(const Transformer& model);
/// The files beside the run, by name, that describe other weights than those it has now: JSON
/// objects whose "weights" is another hash.
std::vector<std::string> outdated_findings(const Run& run);

/// The files of a run.
std::filesystem::path config_file(const Run& run);
std::filesystem::path metrics_file(const Run& run);
std::filesystem::path state_file(const Run& run);
std::filesystem::path model_file(const Run& run);
/// best.safetensors: the parameters with the lowest held-out loss so far. Only runs of tasks that
/// read a file have one, because there a model overfits if it trains for too long.
std::filesystem::path best_file(const Run& run);

/// The held-out loss of a run that learns from finite data and has overfitted: it was lowest at
/// `best_step` and has risen by 1% or more since, while the loss of training steps fell.
struct Overfitting {
  Index best_step = 0, step = 0;
  double best_loss = 0, loss = 0;              // held out, nats per target
  double best_train_loss = 0, train_loss = 0;  // of the steps before each of the two
};
/// By metrics.jsonl; none if the run has not overfitted, or its task makes new data for each step.
std::optional<Overfitting> overfitting_of(const Run& run);
/// The same as a sentence with the command that judges the best weights; "" if there is none.
std::string overfitting_text(const Run& run);

/// The objects of a log (NAME.jsonl, a line for each recorded step) in order; none if there is no
/// file. Error that names a line that is damaged, or of another run than that with this identity;
/// half a line at the end, which a killed process left, is left out with a note.
std::vector<Json> read_log(const std::filesystem::path& file, const std::string& run = "");
/// A sentence for each log that lacks lines which the run has written, as its state knows.
std::vector<std::string> lost_text(const Run& run);
/// Adds a line with the identity of the run.
void append_log(const Run& run, const std::filesystem::path& file, Json line);

/// Another process writes the run.
class RunBusy : public Error {
 public:
  using Error::Error;
};

/// The lock of a run's folder, which need not be there yet: a file .NAME.lock beside it, gone when
/// the last Run that holds it goes, or useless when the process dies. One process at a time has it;
/// within a process it is shared. Error: RunBusy, which says who has it and since when. Where the
/// file system has no locks, or the folder above cannot be written, there is a note instead.
RunLock lock_run(const std::filesystem::path& path);

// ---- making a run

/// What becomes of a run that is there already.
enum class Existing : bool { refuse, replace };

/// There is something where a run was to be made.
class FolderTaken : public Error {
 public:
  using Error::Error;
};

/// Error unless a run may be made at `path`: nothing is there, an empty folder, what killed writers
/// left behind (a state of no steps without config.json), or, with Existing::replace, a run. What
/// belongs to that run goes with it: its own files, every .json and .jsonl that begins with
/// {"headlab": ..., as all that this library writes does, and pages. Any other file stays where it
/// is.
void check_run_folder(const std::filesystem::path& path, Existing existing);

/// A new run with initial values, on disk from the start. Errors: an impossible config; those of
/// check_run_folder. Nothing is written before all is checked.
Run create_run(const std::filesystem::path& path, RunConfig config,
               Existing existing = Existing::refuse);
/// More files of a new run, by name: JSON that begins with "headlab".
using RunFiles = std::vector<std::pair<std::string, Json>>;

/// A new run around a copy of a model that exists already: what pruning writes. Error if the task
/// asks for a model of another shape.
Run create_run(const std::filesystem::path& path, RunConfig config, const Transformer& model,
               Existing existing = Existing::refuse, const RunFiles& files = {});
/// Writes a run that has been put together in memory to run.path, with the state of its trainer.
/// Errors: RunBusy, those of check_run_folder.
void write_new_run(Run& run, const Trainer& trainer, Existing existing, const RunFiles& files = {});

/// Writes a run of a model that was trained elsewhere: it has no state, and no training goes on
/// from it. Its task may be shorter than the model. Errors: those of check_run_folder; a task that
/// the model does not fit.
Run import_run(const std::filesystem::path& path, RunConfig config, Transformer model,
               Existing existing = Existing::refuse);

/// Writes config.json again, after run.config has changed; the state then belongs to it.
void save_config(const Run& run);

// ---- opening a run

/// There is no run where one was to be opened.
class MissingRun : public Error {
 public:
  using Error::Error;
};

/// Reads config.json. Errors: MissingRun, a damaged file.
RunConfig read_config(const std::filesystem::path& path);
/// What a run is opened for: `write` takes its lock first; `look` makes no task, so that it needs
/// neither data nor program.
enum class Access { read, write, look };

/// Reads config and parameters. Errors: no run there, damaged files, files that do not belong to
/// one run, or a data file that changed since.
Run open_run(const std::filesystem::path& path, Access access = Access::read);

// ---- training a run

struct TrainResult {
  bool finished = false;  // false: stopped by should_stop
  Index steps = 0;
  double seconds = 0;
  double tokens_per_s = 0;  // over all steps of this call
  Evaluation held_out;      // of the model as it is now
};

/// What an experiment adds to a run. Here `save`, inherited, is called after the files have been
/// written: saving itself is the run's.
struct RunCallbacks : TrainCallbacks {
  /// Before the state is loaded: add parameters here. Their moments are saved with the others.
  std::function<void(Trainer&)> prepare{};
  /// More tensors for state.safetensors, under names of your own. A new run has none of them yet.
  std::function<void(TensorFile&)> store_extra{};
  std::function<void(const TensorFile&)> load_extra{};
};

/// Restores the trainer from the run's state. Error: a state file that is damaged or not this
/// run's.
void load_state(const Run& run, Trainer& trainer, const RunCallbacks& callbacks = {});

/// Continues the run from its state to config.train.steps, writing evaluations to metrics.jsonl and
/// saving; the callbacks are called as well. Whatever a killed process left in the folder is
/// cleared first. Errors: those of Trainer::run and load_state; RunBusy.
TrainResult train_run(Run& run, const RunCallbacks& callbacks = {});
/// The same with a trainer of run.model that holds the run's state; `prepare` is not called.
TrainResult train_run(Run& run, Trainer& trainer, const RunCallbacks& callbacks);

}  // namespace headlab
