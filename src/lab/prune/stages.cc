// A training as stages, so that a model from scratch and a pruned model have the same schedule of
// the learning rate. A pruned model was trained by one schedule and then by another, which restarts
// from a small rate. This restart alone lowers the loss, so a reference without it would compare
// schedules. Read next: curve.cc.
#include "lab/prune/stages.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/text.h"
#include "headlab/core/model/initial.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/prune/prune.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

TrainingStage stage_of(TrainConfig config, Index steps) {
  config.steps = steps;
  return {.config = config, .until = steps};
}

/// Returns the stages of one run without those of its parent: one for each planned number of steps.
/// `done`: the steps of its model.
std::vector<TrainingStage> own_stages(const RunConfig& config, Index done, const fs::path& path) {
  std::vector<TrainingStage> stages;
  std::vector<Index> planned;
  for (const Extension& extension : config.extended) {
    if (!extension.is_planned) {
      throw Error(text("cannot repeat the schedule of ", path.string(),
                       ": it was extended before its planned steps were done"),
                  "leave out --from-scratch");
    }
    planned.push_back(extension.from);
  }
  planned.push_back(config.train.steps);
  Index before = 0;
  for (const Index steps : planned) {
    if (before >= done && !stages.empty()) break;
    TrainingStage& stage = stages.emplace_back(stage_of(config.train, steps));
    stage.until = std::min(steps, done);
    stage.resumes = before > 0;
    before = steps;
  }
  return stages;
}

/// Returns a number of steps in a record of pruning.
Index steps_in(const Json& record, const char* key) {
  const Json* steps = record.find(key);
  return steps != nullptr ? steps->integer() : 0;
}

/// Returns the steps of a run before its own: those of the run it was pruned from, and of gates.
Index steps_before(const fs::path& path) {
  const fs::path file = path / kPruneFile;
  if (!is_there(file)) return 0;
  const Json record = read_json(file);
  return steps_in(record, "steps") + steps_in(record, "gate_steps");
}

/// Returns the stages of the run at `path`, whose model has done `done` of its own steps.
std::vector<TrainingStage> stages_at(const fs::path& path, const RunConfig& config, Index done) {
  std::vector<TrainingStage> stages;
  const fs::path file = path / kPruneFile;
  if (is_there(file)) {
    const fs::path parent = config.parent;
    if (!is_there(parent / "config.json")) {
      throw Error(text("cannot repeat the schedule of ", path.string(), ": the run it was pruned ",
                       "from is not at '", config.parent, "'"),
                  "put that run back, or leave out --from-scratch");
    }
    const Json record = read_json(file);
    const RunConfig before = read_config(parent);
    const Index done_before = steps_in(record, "steps") - steps_before(parent);
    stages = stages_at(parent, before, done_before);
    const Index gates = steps_in(record, "gate_steps");
    if (gates > 0) stages.push_back(stage_of(finetuning(before.train, gates), gates));
  }
  if (done > 0 || stages.empty()) {
    for (TrainingStage& stage : own_stages(config, done, path)) stages.push_back(std::move(stage));
  }
  return stages;
}

Index own_steps(const Run& run) { return run.step >= 0 ? run.step : run.config.train.steps; }

/// Returns "1,000 steps at a rate of 0.003".
std::string stage_text(const TrainingStage& stage) {
  return text(stage.until, " steps at a rate of ", number_text(stage.config.lr));
}

}  // namespace

Index trained_steps(const Run& run) { return own_steps(run) + steps_before(run.path); }

std::vector<TrainingStage> training_stages(const Run& run) {
  return stages_at(run.path, run.config, own_steps(run));
}

std::vector<TrainingStage> later_stages(const Run& run, Index gate_steps, Index finetune) {
  std::vector<TrainingStage> stages;
  for (const Index steps : {gate_steps, finetune}) {
    if (steps > 0) stages.push_back(stage_of(finetuning(run.config.train, steps), steps));
  }
  return stages;
}

std::string schedule_text(std::span<const TrainingStage> stages) {
  std::vector<std::string> parts;
  for (const TrainingStage& stage : stages) parts.push_back(stage_text(stage));
  return join(parts, ", then ");
}

void train_by(Transformer& model, const Task& task, std::span<const TrainingStage> stages) {
  TensorFile state;
  for (const TrainingStage& stage : stages) {
    Trainer trainer(model, task, stage.config);
    if (stage.resumes) trainer.load(state);
    const auto is_over = [&] { return trainer.step() >= stage.until; };
    if (!is_over()) trainer.run({.should_stop = is_over});
    state = TensorFile();
    trainer.store(state);
  }
}

Transformer train_from_scratch(const Run& run, std::span<const HeadId> heads,
                               std::span<const TrainingStage> more) {
  Transformer model = remove_heads(run.model, heads);
  initialize(model, streams::initial_values(run.config.train.seed));
  std::vector<TrainingStage> stages = training_stages(run);
  stages.insert(stages.end(), more.begin(), more.end());
  train_by(model, *run.task, stages);
  return model;
}

Transformer train_on(const Run& run, std::span<const TrainingStage> more) {
  Transformer model = run.model.clone();
  train_by(model, *run.task, more);
  return model;
}

}  // namespace headlab
