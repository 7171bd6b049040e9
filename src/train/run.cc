// Runs that exist: opened, read, trained on. A run that resumes cuts its logs back to the saved
// step and writes the lines after it again, the same ones; a log is any .jsonl that belongs to the
// run. Read next: trainer.cc.
#include "headlab/train/run.h"

#include <algorithm>
#include <system_error>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/model/checkpoint.h"
#include "train/run_folder.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

/// Leaves out the lines of the run's logs that come after `step`: it goes on from there.
void cut_logs(const Run& run, Index step) {
  for (const fs::path& log : files_in(run.path)) {
    if (log.extension() != ".jsonl" || !is_run_file(log)) continue;
    std::string kept;
    for (const Json& line : read_log(log))
      kept += line.at("step").integer() <= step ? line.dump() + "\n" : "";
    if (kept != read_file(log)) write_file(log, kept);
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

fs::path config_file(const Run& run) { return run.path / "config.json"; }
fs::path metrics_file(const Run& run) { return run.path / "metrics.jsonl"; }
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

RunConfig read_config(const fs::path& path) {
  const fs::path file = path / "config.json";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    throw MissingRun(text("there is no run at ", path.string(), " (no config.json)"),
                     "give the folder that a training wrote");
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

void load_state(const Run& run, Trainer& trainer, const RunCallbacks& callbacks) {
  const TensorFile state = read_safetensors(state_file(run));
  try {
    trainer.load(state);
    if (callbacks.load_extra) callbacks.load_extra(state);
  } catch (const Error& error) {
    throw Error(text(state_file(run).string(), ": ", error.what()), error.hint());
  }
}

TrainResult train_run(Run& run, const RunCallbacks& callbacks) {
  Trainer trainer(run.model, *run.task, run.config.train);
  if (callbacks.prepare) callbacks.prepare(trainer);
  load_state(run, trainer, callbacks);
  return train_run(run, trainer, callbacks);
}

TrainResult train_run(Run& run, Trainer& trainer, const RunCallbacks& callbacks) {
  remove_leftovers(run.path);
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
    append_line(metrics_file(run), to_json(record).dump());
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
