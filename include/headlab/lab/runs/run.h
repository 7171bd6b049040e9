// A run: a folder with config.json (every setting), metrics.jsonl (one object per evaluation),
// state.safetensors (everything that resuming needs), model.safetensors (the parameters, for other
// programs) and optionally snapshots.safetensors (weights over training). Files are replaced
// atomically, so a run killed at any moment, even during a save, resumes bit for bit. Analyses add
// JSON files that begin with "headlab". Read next: run_config.h, trainer.h.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/train/trainer.h"
#include "headlab/lab/results/table.h"
#include "headlab/lab/runs/file_lock.h"
#include "headlab/lab/runs/run_config.h"

namespace headlab {

/// Lock held by the process that writes a run; see lock_run.
using RunLock = std::shared_ptr<const FileLock>;

struct Run {
  std::filesystem::path path;
  RunConfig config;
  std::unique_ptr<Task> task;
  Transformer model;
  RunLock lock{};                       // held from the first write on
  Index step = 0;                       // step of these parameters; -1 if no state records it
  std::map<std::string, Index> lost{};  // lines that are missing from a log (metrics.jsonl ...)
  bool best = false;         // whether these are the weights with the lowest held-out loss
  std::string other_task{};  // spec of `task` if it is not the run's own (task_fit.h)
};

/// The folder of a run as named on a command line, and whether RUN@best asks for its best weights.
struct NamedRun {
  std::filesystem::path path;
  bool best = false;

  friend bool operator==(const NamedRun&, const NamedRun&) = default;
};
/// Splits RUN@best. A folder that has this name itself is a run of its own.
NamedRun named_run(const std::filesystem::path& path);
/// Returns the name under which commands open these weights: the path, with @best for the best.
std::string name_of(const Run& run);
/// Returns the path of a result in the run's folder: NAME.json, or NAME@best.json for the best
/// weights.
std::filesystem::path result_file(const Run& run, const std::string& name);

/// Returns the table "targets": name, loss, accuracy and number of targets for each of the K
/// targets.
Table target_table(const Evaluation& evaluation);
Json to_json(const TargetScore& score);

/// Returns a fingerprint of all parameters by name: 16 hexadecimal digits. Results of analyses
/// contain it, and the step, because they describe these weights only.
std::string weights_hash(const Transformer& model);
/// Returns the names of result files in the run's folder that describe other weights than the
/// current ones: JSON objects whose "weights" is another hash.
std::vector<std::string> outdated_results(const Run& run);

std::filesystem::path config_file(const Run& run);
std::filesystem::path metrics_file(const Run& run);
std::filesystem::path state_file(const Run& run);
std::filesystem::path model_file(const Run& run);
/// Returns the path of best.safetensors: the parameters with the lowest held-out loss so far. Runs
/// of tasks that read a file have one, because finite data can be overfitted, and runs that stop
/// early.
std::filesystem::path best_file(const Run& run);
/// Returns the reason why the training ended before its last step; "" if it did not, or went on.
std::string ended_text(const Run& run);

/// Held-out loss of a run that learns from finite data and has overfitted: it was lowest at
/// `best_step` and has risen by 1% or more since, while the training loss fell.
struct Overfitting {
  Index best_step = 0, step = 0;
  double best_loss = 0, loss = 0;              // held out, nats per target
  double best_train_loss = 0, train_loss = 0;  // of the steps before each of the two evaluations
};
/// Reads metrics.jsonl; returns nothing if the run has not overfitted, or if its task generates new
/// data for each step.
std::optional<Overfitting> overfitting_of(const Run& run);
/// Returns the overfitting as a sentence with the command that evaluates the best weights; "" if
/// there is none.
std::string overfitting_text(const Run& run);

/// Returns the objects of a log (NAME.jsonl, one line per recorded step) in order; none if there is
/// no file. Error that names a line that is damaged, or that belongs to a run with another
/// identity. An incomplete last line, left by a killed process, is skipped with a note.
std::vector<Json> read_log(const std::filesystem::path& file, const std::string& run = "");
/// Returns a sentence for each log that lacks lines which the run has written according to its
/// state.
std::vector<std::string> lost_text(const Run& run);
/// Appends a line with the identity of the run.
void append_log(const Run& run, const std::filesystem::path& file, Json line);

class RunBusy : public Error {
 public:
  using Error::Error;
};

/// Locks a run's folder, which need not exist: the lock is a file .NAME.lock next to it, removed
/// when the last Run that holds it is destroyed, and void if the process dies. One process at a
/// time holds it; it is shared within a process. Error: RunBusy, which names the holder and the
/// time. If the file system has no locks, or the parent folder is not writable, a note is printed
/// instead.
RunLock lock_run(const std::filesystem::path& path);

// ---- creating a run

enum class Existing : bool { refuse, replace };

/// Thrown if the path of a new run is not free.
class FolderTaken : public Error {
 public:
  using Error::Error;
};

/// Throws an Error unless a run may be created at `path`. Allowed are: nothing, an empty folder,
/// remains of killed writers (a state of no steps without config.json), or, with Existing::replace,
/// a run. Replacing a run removes its own files, every .json and .jsonl that begins with
/// {"headlab": ..., as all files of this library do, and pages. Any other file stays.
void check_run_folder(const std::filesystem::path& path, Existing existing);

/// Creates a run with initial values and writes it. Errors: an impossible config; those of
/// check_run_folder. Everything is checked before the first write.
Run create_run(const std::filesystem::path& path, RunConfig config,
               Existing existing = Existing::refuse);
/// Additional files of a new run, by name: JSON that begins with "headlab".
using RunFiles = std::vector<std::pair<std::string, Json>>;

/// Creates a run with a copy of an existing model, as pruning does. Error if the task requires a
/// model of another shape.
Run create_run(const std::filesystem::path& path, RunConfig config, const Transformer& model,
               Existing existing = Existing::refuse, const RunFiles& files = {});
/// Returns a copy of the weights of `source` as the beginning of another training, and sets
/// config.model, config.from and config.from_weights. `config` must be fitted to its task, whose
/// sequences may be longer. Errors: those of require_serves and with_length (task_fit.h).
Transformer model_from(const Run& source, RunConfig& config);
/// Writes a run assembled in memory to run.path, with the state of its trainer. Errors: RunBusy,
/// those of check_run_folder.
void write_new_run(Run& run, const Trainer& trainer, Existing existing, const RunFiles& files = {});

/// Writes a run of a model that was trained elsewhere. It has no state and cannot be trained
/// further. Its task may be shorter than the model. Errors: those of check_run_folder; a task that
/// does not fit the model.
Run import_run(const std::filesystem::path& path, RunConfig config, Transformer model,
               Existing existing = Existing::refuse);

/// Returns whether another run, or none, lies where this one was opened.
bool was_replaced(const Run& run);
/// Writes config.json after run.config has changed; the state then belongs to the new config.
void save_config(const Run& run);

// ---- opening a run

class MissingRun : public Error {
 public:
  MissingRun(const std::string& what, std::string hint, std::filesystem::path where)
      : Error(what, std::move(hint)), path(std::move(where)) {}
  std::filesystem::path path;
};

/// Errors: MissingRun, a damaged config.json.
RunConfig read_config(const std::filesystem::path& path);
/// Access to a run: `write` takes its lock first; `look` creates no task, so it needs neither data
/// nor program.
enum class Access { read, write, look };

/// Reads config and parameters. Errors: no run at the path, damaged files, files that belong to
/// different runs, or a data file that has changed. RUN@best opens the weights with the lowest
/// held-out loss, which cannot be written.
Run open_run(const std::filesystem::path& path, Access access = Access::read);

// ---- training a run

struct TrainResult {
  bool finished = false;  // false if should_stop ended it
  std::string ended{};    // the reason if early stopping ended it; then it is finished
  Index steps = 0;
  double seconds = 0;
  double tokens_per_s = 0;  // over all steps of this call
  Evaluation held_out;      // of the current model
};

/// Callbacks of an experiment. The inherited `save` is called after the run has written its files.
struct RunCallbacks : TrainCallbacks {
  /// Called before the state is loaded. Add parameters here; their moments are saved with the
  /// others.
  std::function<void(Trainer&)> prepare{};
  /// Adds tensors to state.safetensors under names of the experiment. A new run has none of them
  /// yet.
  std::function<void(TensorFile&)> store_extra{};
  std::function<void(const TensorFile&)> load_extra{};
};

/// Restores the trainer from the run's state. Error if the state file is damaged or belongs to
/// another run.
void load_state(const Run& run, Trainer& trainer, const RunCallbacks& callbacks = {});

/// Continues the run from its state to config.train.steps, writes evaluations to metrics.jsonl,
/// saves, and calls the callbacks. Remains of a killed process in the folder are removed first.
/// Errors: those of Trainer::run and load_state; RunBusy.
TrainResult train_run(Run& run, const RunCallbacks& callbacks = {});
/// Continues the run with a trainer of run.model that already holds the run's state; `prepare` is
/// not called.
TrainResult train_run(Run& run, Trainer& trainer, const RunCallbacks& callbacks);

}  // namespace headlab
