// Creation of runs in folders, and opening and training of existing runs. The state is one file, so
// no two files can disagree after a crash. config.json is written last, so a folder with a
// config.json is a complete run. A resumed run truncates its logs to the saved step and writes the
// same later lines again. Read next: run_folder.cc, trainer.cc.
#include "headlab/lab/runs/run.h"

#include <algorithm>

#include "headlab/core/base/build.h"
#include "headlab/core/model/checkpoint.h"
#include "headlab/lab/data/data_files.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"
#include "headlab/lab/runs/task_fit.h"
#include "lab/data/language.h"
#include "lab/runs/best_weights.h"
#include "lab/runs/early_stop.h"
#include "lab/runs/run_folder.h"
#include "lab/runs/run_logs.h"
#include "lab/runs/snapshots.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

// In config.json: what the bits of the run depend on, and what was known of its data.
constexpr const char *kBuild = "build", *kData = "data";

void save_state(const Run& run, const Trainer& trainer, const RunCallbacks& callbacks = {}) {
  TensorFile file;
  file.metadata["headlab"] = version();
  file.metadata["config"] = identity_of(run.config);
  count_logs(run, file);
  trainer.store(file);
  if (callbacks.store_extra) callbacks.store_extra(file);
  write_safetensors(state_file(run), file);
}

std::string config_text(const Run& run) {
  RunConfig config = run.config;
  Json::Object members = settings_of(config).to_json().members();
  members.emplace(members.begin(), kBuild, build());
  if (const std::string data = run.task->about_data(); !data.empty()) {
    members.emplace_back(kData, data);
  }
  return stamped(std::move(members)).dump(2) + "\n";
}

/// Saves the parameters alone, for other programs.
void save_model(const Run& run) {
  TensorFile file;
  file.metadata["config"] = identity_of(run.config);
  std::vector<std::string_view> views;  // of the model itself: large ones are not copied
  run.model.visit([&](const std::string& name, const Tensor& parameter) {
    const std::span<const Scalar> values = parameter.values();
    file.tensors.push_back({name, "F32", {parameter.shape().begin(), parameter.shape().end()}, {}});
    views.emplace_back(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  });
  write_safetensors(model_file(run), file, views);
}

/// Throws an Error if a file says that it belongs to another config; a note if it does not say, or
/// has no checksum: then an older version wrote it.
void check_identity(const Run& run, const TensorFile& file, const fs::path& path) {
  const auto said = file.metadata.find("config");
  if (said == file.metadata.end() || !file.checked) {
    note_unchecked(path);
  } else if (said->second != identity_of(run.config)) {
    if (was_replaced(run)) {
      throw Error(text("cannot read ", path.string(), ": ", run.path.string(),
                       " was replaced meanwhile"),
                  "repeat the command");
    }
    throw Error(text("cannot read ", path.string(),
                     ": it does not belong to the config.json next to it"),
                "use the file and the config.json that were written together");
  }
}

/// Calls take(tensors) with what a file of the run holds; errors name the file.
template <class Take>
void read_tensors(const Run& run, const fs::path& path, const Take& take) {
  const TensorFile file = read_safetensors(path);
  check_identity(run, file, path);
  in_context(text("cannot read ", path.string()), [&] { take(file); });
}

/// Writes a run's folder; save_weights() writes the files of its weights.
void write_folder(Run& run, Existing existing, const RunFiles& files,
                  const std::function<void()>& save_weights) {
  const fs::path path = run.path;
  const std::string settings = config_text(run);
  check_run_folder(path, existing);  // what cannot be made is not locked
  run.lock = lock_run(path);
  recover(path);
  check_run_folder(path, existing);
  const auto fill = [&](const fs::path& folder) {
    run.path = folder;
    make_directories(folder);
    clear_folder(folder);
    save_weights();
    for (const auto& [name, content] : files) write_json(folder / name, content);
    write_file(config_file(run), settings);
  };
  replace_folder(path, fill);
  run.path = path;
}

/// Writes a run that exists only in memory, and returns it.
Run written(Run run, Existing existing, const RunFiles& files = {}) {
  const Trainer trainer(run.model, *run.task, run.config.train);
  write_new_run(run, trainer, existing, files);
  return run;
}

/// Prints a note if another build began the run: it continues, but not with the bits of that build.
void note_other_build(const Run& run) {
  const Json config = Json::parse(read_file(config_file(run)), config_file(run).string());
  const Json* said = config.find(kBuild);
  if (said != nullptr && said->is_string() && said->string() != build()) {
    tell_user(text(run.path.string(), " was begun by another build (", said->string(),
                   "), this is ", build(), ": it goes on, with other last bits"));
  }
}

/// Throws an Error if config.json has been deleted.
void require_config(const Run& run, Index step) {
  if (is_there(config_file(run))) return;
  throw Error(text("cannot go on training: ", config_file(run).string(), " disappeared"),
              text("put it back: the state of step ", step, " is saved"));
}

/// Returns tokens per second over some steps; 0 if they took no time.
double speed_of(const RunConfig& config, Index steps, double seconds) {
  const double tokens = static_cast<double>(steps * config.train.batch) *
                        static_cast<double>(config.model.tokens_per_sequence());
  return seconds > 0 ? tokens / seconds : 0;
}

/// Returns the task of a run. Error if it asks for another model, or has other data, than the
/// config says.
std::unique_ptr<Task> task_of(const RunConfig& config) {
  RunConfig fitted = config;
  std::unique_ptr<Task> task = fit_to_task(fitted);
  if (!config.model.serves(fitted.model.shape()) || fitted.data_hash != config.data_hash) {
    throw Error(text("cannot open the run: the task ", config.task,
                     " is no longer the one it was trained on"),
                "restore its data file or config.json, one of which has changed, or train again");
  }
  return task;
}

}  // namespace

Run create_run(const fs::path& path, RunConfig config, Existing existing) {
  std::unique_ptr<Task> task = fit_to_task(config);
  config.validate();
  Transformer model = initial_model(config);
  return written({path, std::move(config), std::move(task), std::move(model)}, existing);
}

Run create_run(const fs::path& path, RunConfig config, const Transformer& model, Existing existing,
               const RunFiles& files) {
  std::unique_ptr<Task> task = fit_to_task(config);
  require_serves(model.shape(), config);
  config.model = model.config();
  config.validate();
  return written({path, std::move(config), std::move(task), model.clone()}, existing, files);
}

Run import_run(const fs::path& path, RunConfig config, Transformer model, Existing existing) {
  std::unique_ptr<Task> task = fit_to_task(config);
  require_serves(model.shape(), config);
  config.model = model.config();
  Run run{path, std::move(config), std::move(task), std::move(model), {}, -1};
  write_folder(run, existing, {}, [&] { save_model(run); });
  return run;
}

void write_new_run(Run& run, const Trainer& trainer, Existing existing, const RunFiles& files) {
  write_folder(run, existing, files, [&] {
    save_state(run, trainer);
    save_model(run);
  });
}

bool was_replaced(const Run& run) {
  try {
    return identity_of(read_config(run.path)) != identity_of(run.config);
  } catch (const Error&) {
    return true;  // no run is there any more
  }
}

void save_config(const Run& run) {
  cut_logs(run, run.step);  // what belongs to another run is refused before anything is written
  if (run.config.keep_weights > 0) read_snapshots(run);
  if (identity_of(read_config(run.path)) != identity_of(run.config)) {
    TensorFile state = read_safetensors(state_file(run));
    state.metadata["config"] = identity_of(run.config);
    write_safetensors(state_file(run), state);
  }
  write_file(config_file(run), config_text(run));
}

fs::path config_file(const Run& run) { return run.path / "config.json"; }
fs::path metrics_file(const Run& run) { return run.path / "metrics.jsonl"; }
fs::path state_file(const Run& run) { return run.path / "state.safetensors"; }
fs::path model_file(const Run& run) { return run.path / "model.safetensors"; }
fs::path best_file(const Run& run) { return run.path / "best.safetensors"; }

std::string weights_hash(const Transformer& model) {
  std::string all;
  model.visit([&](const std::string& name, const Tensor& parameter) {
    all += name + fingerprint(stored(name, parameter).bytes);
  });
  return fingerprint(all);
}

std::vector<std::string> outdated_results(const Run& run) {
  const std::string hash = weights_hash(run.model);
  std::vector<std::string> names;
  for (const fs::path& file : files_in(run.path)) {
    const bool is_of_best = file.stem().string().ends_with("@best");
    if (is_of_best != run.best) continue;
    if (file.extension() != ".json" || file == config_file(run) || !is_run_file(file)) continue;
    try {
      const Json result = Json::parse(read_file(file), file.string());
      const Json* weights = result.find("weights");
      if (weights != nullptr && *weights != Json(hash)) names.push_back(file.filename().string());
    } catch (const Error&) {
      continue;  // damaged: it describes nothing
    }
  }
  std::ranges::sort(names);
  return names;
}

RunConfig read_config(const fs::path& name) {
  const fs::path path = named_run(name).path;
  const fs::path file = path / "config.json";
  if (!is_there(path)) recover(path);
  std::error_code failed;
  const bool there = fs::exists(file, failed);
  const bool absurd = failed == std::errc::filename_too_long;
  require(!failed || absurd, "cannot read ", path.string(), ": ", failed.message());
  if (!there) {
    throw MissingRun(text("no run found in '", path.string(), "' (config.json is missing)"),
                     "pass a folder that a training run wrote", path);
  }
  RunConfig config;
  const Json json = Json::parse(read_file(file), file.string());
  require_known_version(json, file.string());
  read_settings(config, json, file.string());
  return config;
}

/// Reads the parameters of a run without a state, such as an imported model.
static void load_model(Run& run) {
  const fs::path path = model_file(run);
  const TensorReader file(path);
  check_identity(run, file.header(), path);
  in_context(text("cannot read ", path.string()), [&] { load_parameters(run.model, file); });
  run.step = -1;
}

Run open_run(const fs::path& name, Access access) {
  const auto& [path, best] = named_run(name);
  if (best && access == Access::write) {
    throw Error(text("cannot write ", name.string(), ": training goes on from the last weights"),
                "name the run without @best, or begin a new run with `headlab train --from`");
  }
  if (best) {
    Run run = open_run(path, access);
    load_best(run);
    return run;
  }
  RunLock lock = access == Access::write && is_there(path) ? lock_run(path) : nullptr;
  RunConfig config = read_config(path);
  config.train.validate();
  Transformer model(config.model);
  if (!config.parent.empty()) look_for_data_near(config.parent);
  look_for_data_near(path);
  std::unique_ptr<Task> task = access == Access::look ? nullptr : task_of(config);
  Run run{path, config, std::move(task), std::move(model), std::move(lock)};
  if (access == Access::write) note_other_build(run);
  if (!is_there(state_file(run))) {
    load_model(run);
    return run;
  }
  read_tensors(run, state_file(run), [&](const TensorFile& file) {
    load_parameters(run.model, file, "model.");
    run.step = Trainer::steps_in(file);
    run.lost = lost_lines(run, file);
  });
  if (access != Access::look) {
    for (const std::string& sentence : lost_text(run)) {
      tell_user(text(path.string(), "/", sentence));
    }
  }
  return run;
}

void load_state(const Run& run, Trainer& trainer, const RunCallbacks& callbacks) {
  read_tensors(run, state_file(run), [&](const TensorFile& state) {
    trainer.load(state);
    if (callbacks.load_extra) callbacks.load_extra(state);
  });
}

TrainResult train_run(Run& run, const RunCallbacks& callbacks) {
  if (!run.lock) run.lock = lock_run(run.path);
  Trainer trainer(run.model, *run.task, run.config.train);
  if (callbacks.prepare) callbacks.prepare(trainer);
  load_state(run, trainer, callbacks);
  return train_run(run, trainer, callbacks);
}

TrainResult train_run(Run& run, Trainer& trainer, const RunCallbacks& given) {
  if (!run.lock) run.lock = lock_run(run.path);
  remove_leftovers(run.path);
  cut_logs(run, trainer.step());
  const RunCallbacks callbacks = keep_weights(run, trainer.step(), given);
  const Index first_step = trainer.step();
  const double first_second = trainer.seconds();
  TrainCallbacks inner = callbacks;
  inner.save = [&] {
    save_state(run, trainer, callbacks);
    require_config(run, trainer.step());
    if (callbacks.save) callbacks.save();
  };
  TrainResult result;
  double best = lowest_loss(run);
  EarlyStop early_stop(run);
  inner.on_evaluation = [&](const EvaluationRecord& record) {
    result.ended = early_stop.after(record);
    append_log(run, metrics_file(run), metrics_line(run, record, result.ended));
    result.held_out = record.held_out;
    if (keeps_best(run) && record.held_out.loss < best) {
      best = record.held_out.loss;
      save_best(run, record.last.step);
    }
    if (callbacks.on_evaluation) callbacks.on_evaluation(record);
  };
  inner.should_stop = [&] {
    return !result.ended.empty() || (callbacks.should_stop && callbacks.should_stop());
  };
  result.finished = trainer.run(inner) || !result.ended.empty();
  result.steps = run.step = trainer.step();
  result.seconds = trainer.seconds() - first_second;
  result.tokens_per_s = speed_of(run.config, trainer.step() - first_step, result.seconds);
  if (!result.finished || result.held_out.count == 0) {
    result.held_out = evaluate(run.model, *run.task, {.examples = run.config.train.eval_examples});
  }
  save_model(run);
  return result;
}

}  // namespace headlab
