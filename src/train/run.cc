// Run folders. The state is one file, so that no two files can disagree after a crash, and
// config.json is written last, so that a folder with a config.json is a whole run. A run that
// resumes cuts its logs back to the saved step and writes the lines after it again, the same
// ones.
#include "headlab/train/run.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/version.h"
#include "headlab/model/checkpoint.h"
#include "headlab/model/initial.h"
#include "headlab/tasks/table.h"
#include "headlab/train/memory.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

/// All that a run's folder may hold: what --force may delete.
constexpr std::array kRunFiles = {
    "config.json",       "metrics.jsonl",    "heads.jsonl",   "state.safetensors",
    "model.safetensors", "heads.json",       "ablation.json", "interactions.json",
    "gold_edges.json",   "attribution.json", "circuits.json", "patching.json",
    "curve.json",        "michel.json",      "voita.json",    "prune.json",
    "cell.json",         "examples.json",    "report.html",   "patterns.safetensors"};
/// Settings that the task decides, and the one that pruning writes.
constexpr std::array kDecided = {"architecture", "vocab",     "length", "source_length",
                                 "targets",      "attention", "parent", "data_hash"};

/// Whether `name` is what a writer that was killed leaves of a run's file (files.h).
bool is_leftover(const std::string& name) {
  return std::any_of(kRunFiles.begin(), kRunFiles.end(),
                     [&](const char* file) { return name.rfind(text(file, ".tmp-"), 0) == 0; });
}

bool is_run_file(const std::string& name) {
  return std::find(kRunFiles.begin(), kRunFiles.end(), name) != kRunFiles.end();
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    names.push_back(entry.path().filename().string());
  return names;
}

void remove_leftovers(const fs::path& folder) {
  std::error_code ignored;
  for (const std::string& name : names_in(folder))
    if (is_leftover(name)) fs::remove(folder / name, ignored);
}

/// Deletes the files of the run at `path`, which check_run_folder has allowed: config.json first,
/// so that what is left of it is no run.
void clear_folder(const fs::path& path) {
  std::error_code ignored;
  for (const char* name : kRunFiles) fs::remove(path / name, ignored);
  remove_leftovers(path);
}

/// Whether the folder can be renamed without pulling the ground from under relative paths.
bool can_be_moved(const fs::path& folder) {
  const std::string here = (fs::current_path() / "").string();
  return here.rfind((folder / "").string(), 0) != 0;
}

/// Takes what an exchange left behind: files that are no run's go back to `path`, the rest goes.
void absorb(const fs::path& beside, const fs::path& path) {
  std::error_code ignored;
  for (const std::string& name : names_in(beside))
    if (!is_run_file(name) && !is_leftover(name) && !fs::exists(path / name, ignored))
      fs::rename(beside / name, path / name, ignored);
  clear_folder(beside);
  fs::remove(beside, ignored);
}

/// Makes `path` by `fill`. A run that is there is replaced as one step: the new one is filled
/// beside it and the two are exchanged, so that a full disk or a kill leaves one of them whole.
template <class Fill>
void replace_folder(const fs::path& path, const Fill& fill) {
  std::error_code ignored;
  const fs::path there = fs::canonical(path, ignored);
  fs::path beside = there;
  beside += ".being-replaced";
  if (there.empty() || names_in(there).empty() || !can_be_moved(there)) {
    fill(path);
    return;
  }
  absorb(beside, there);  // of a process that was killed here
  try {
    fill(beside);
    exchange_directories(there, beside);
  } catch (const Error&) {
    absorb(beside, there);
    throw;
  }
  absorb(beside, there);
}

std::string config_text(const Run& run) {
  RunConfig config = run.config;
  Json json = Json::object();
  json["headlab"] = version();
  const Settings settings = settings_of(config);
  for (const Setting& setting : settings.all()) json[setting.name] = setting.get();
  return json.dump(2) + "\n";
}

void save_state(const Run& run, Trainer& trainer, const RunCallbacks& callbacks) {
  TensorFile file;
  file.metadata["headlab"] = version();
  trainer.store(file);
  if (callbacks.store_extra) callbacks.store_extra(file);
  write_safetensors(state_file(run), file);
}

void load_state(const Run& run, Trainer& trainer, const RunCallbacks& callbacks) {
  const fs::path file = state_file(run);
  const TensorFile state = read_safetensors(file);
  try {
    trainer.load(state);
    if (callbacks.load_extra) callbacks.load_extra(state);
  } catch (const Error& error) {
    throw Error(text(file.string(), ": ", error.what()), error.hint());
  }
}

/// Leaves out the lines of the logs that come after `step`: the run goes on from there.
void cut_logs(const Run& run, Index step) {
  for (const fs::path& path : {metrics_file(run), heads_log_file(run)}) {
    std::string kept;
    for (const Json& line : read_log(path))
      kept += line.at("step").integer() <= step ? line.dump() + "\n" : "";
    std::error_code ignored;
    if (fs::exists(path, ignored) && kept != read_file(path)) write_file(path, kept);
  }
}

/// The task's idea of the model against the config's.
std::unique_ptr<Task> task_of(const RunConfig& config) {
  RunConfig fitted = config;
  std::unique_ptr<Task> task = fit_to_task(fitted);
  if (config.model.shape() != fitted.model.shape() || fitted.data_hash != config.data_hash) {
    throw Error(text("the task ", config.task, " is no longer what this run was trained on"),
                "its data file, or config.json, has changed; restore it, or train anew");
  }
  return task;
}

}  // namespace

Settings settings_of(RunConfig& config) {
  Settings s;
  s.text("task", config.task, "NAME:parameter=value,...; see `headlab list tasks`");
  s.add(settings_of(config.model));
  s.add(settings_of(config.train));
  s.text("parent", config.parent, "the run that this one was made from");
  s.text("data_hash", config.data_hash, "of the task's data file");
  return s;
}

Settings user_settings_of(RunConfig& config) {
  const Settings all = settings_of(config);
  Settings mine;
  for (const Setting& setting : all.all())
    if (std::find(kDecided.begin(), kDecided.end(), setting.name) == kDecided.end())
      mine.add(setting);
  return mine;
}

std::unique_ptr<Task> fit_to_task(RunConfig& config) {
  std::unique_ptr<Task> task = make_task(config.task);
  config.task = task->spec();
  config.model.shape() = task->shape();
  config.data_hash = task->data_hash();
  return task;
}

RunConfig recommended_config(const std::string& task) {
  RunConfig config;
  config.task = task;
  user_settings_of(config).set_all_text(find_task(task).recommended);
  return config;
}

Transformer initial_model(const RunConfig& config) {
  Transformer model(config.model);
  initialize(model, Key{static_cast<std::uint64_t>(config.train.seed)}.fold("initial values"));
  return model;
}

fs::path config_file(const Run& run) { return run.path / "config.json"; }
fs::path metrics_file(const Run& run) { return run.path / "metrics.jsonl"; }
fs::path heads_log_file(const Run& run) { return run.path / "heads.jsonl"; }
fs::path state_file(const Run& run) { return run.path / "state.safetensors"; }
fs::path model_file(const Run& run) { return run.path / "model.safetensors"; }

std::vector<Json> read_log(const fs::path& file) {
  std::vector<Json> lines;
  std::error_code ignored;
  const std::string all = fs::exists(file, ignored) ? read_file(file) : "";
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end + 1) {
    end = std::min(all.find('\n', begin), all.size());
    try {
      Json line = Json::parse(std::string_view(all).substr(begin, end - begin));
      line.at("step").integer();
      lines.push_back(std::move(line));
    } catch (const Error&) {
      break;  // the process died while it wrote this line
    }
  }
  return lines;
}

void check_run_folder(const fs::path& path, bool force) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  require(fs::is_directory(path, ignored), path.string(), " exists and is no folder");
  const std::vector<std::string> names = names_in(path);
  if (std::all_of(names.begin(), names.end(), is_leftover)) return;
  if (!force) {
    throw Error(
        text(path.string(), " exists already"),
        "use --force to replace it, or another --out; `headlab train --resume` continues a run");
  }
  const bool was_being_made = std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return is_run_file(name) || is_leftover(name);
  });
  require(was_being_made || fs::exists(path / "config.json", ignored), path.string(),
          " is not empty and holds no run; --force only replaces runs");
}

Run create_run(const fs::path& path, RunConfig config, bool force) {
  const std::unique_ptr<Task> task = fit_to_task(config);
  config.model.validate();
  require_memory(config.model, config.train);
  return create_run(path, config, initial_model(config), force);
}

Run create_run(const fs::path& path, RunConfig config, const Transformer& model, bool force) {
  std::unique_ptr<Task> task = fit_to_task(config);
  config.train.validate();
  require(model.config().shape() == config.model.shape(), "the model does not fit the task ",
          config.task,
          ": architecture, vocab, length, source_length and targets must be the task's");
  config.model = model.config();
  require_memory(config.model, config.train);
  Run run{path, config, std::move(task), model.clone()};
  Trainer trainer(run.model, *run.task, run.config.train);
  const std::string settings = config_text(run);
  check_run_folder(path, force);
  const auto fill = [&](const fs::path& folder) {
    run.path = folder;
    make_directories(folder);
    clear_folder(folder);
    save_state(run, trainer, {});
    write_model(model_file(run), run.model);
    write_file(config_file(run), settings);
  };
  replace_folder(path, fill);
  run.path = path;
  return run;
}

void save_config(const Run& run) { write_file(config_file(run), config_text(run)); }

RunConfig read_config(const fs::path& path) {
  const fs::path file = path / "config.json";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    throw Error(text("there is no run at ", path.string(), " (no config.json)"),
                "give the folder that `headlab train --out` wrote");
  }
  RunConfig config;
  settings_of(config).set_all(Json::parse(read_file(file), file.string()), file.string(),
                              {"headlab"});
  return config;
}

Run open_run(const fs::path& path) {
  RunConfig config = read_config(path);
  config.train.validate();
  Transformer model(config.model);
  Run run{path, config, task_of(config), std::move(model)};
  std::error_code ignored;
  if (!fs::exists(state_file(run), ignored)) {
    read_model(model_file(run), run.model);
    return run;
  }
  const TensorFile state = read_safetensors(state_file(run));
  try {
    load_parameters(run.model, state, "model.");
  } catch (const Error& error) {
    throw Error(text(state_file(run).string(), ": ", error.what()), error.hint());
  }
  return run;
}

TrainResult train_run(Run& run, const RunCallbacks& callbacks) {
  Trainer trainer(run.model, *run.task, run.config.train);
  if (callbacks.prepare) callbacks.prepare(trainer);
  remove_leftovers(run.path);
  load_state(run, trainer, callbacks);
  cut_logs(run, trainer.step());
  const Index first_step = trainer.step();
  const double first_second = trainer.seconds();

  TrainCallbacks inner = callbacks;
  inner.save = [&] {
    save_state(run, trainer, callbacks);
    if (callbacks.save) callbacks.save();
  };
  TrainResult result;
  inner.on_evaluation = [&](const EvaluationRecord& record) {
    append_line(metrics_file(run), record.to_json().dump());
    result.held_out = record.held_out;
    if (callbacks.on_evaluation) callbacks.on_evaluation(record);
  };
  result.finished = trainer.run(inner);
  result.steps = trainer.step();
  result.seconds = trainer.seconds() - first_second;
  const double tokens =
      static_cast<double>((trainer.step() - first_step) * run.config.train.batch) *
      static_cast<double>(run.config.model.tokens_per_sequence());
  result.tokens_per_s = result.seconds > 0 ? tokens / result.seconds : 0;
  if (!result.finished || result.held_out.count == 0)
    result.held_out = evaluate(run.model, *run.task, {.examples = run.config.train.eval_examples});
  write_model(model_file(run), run.model);
  return result;
}

}  // namespace headlab
