// The settings of a run are those of its task, its model and its training, in the order in which
// config.json has always held them. Which of them a user may set is said where each table is made.
// Read next: run_folder.cc.
#include "headlab/train/run_config.h"

#include "headlab/model/initial.h"
#include "headlab/tasks/table.h"
#include "headlab/train/memory.h"
#include "headlab/train/streams.h"

namespace headlab {

void RunConfig::validate() const {
  model.validate();
  train.validate();
  require_memory(model, train);
}

Settings settings_of(RunConfig& config) {
  Settings s;
  s.text("task", config.task, "NAME:parameter=value,...; see `headlab list tasks`");
  s.add(settings_of(config.model));
  const Settings training = settings_of(config.train);
  for (const Setting& setting : training.all()) {
    if (setting.name == "seed") {  // files keep the order of their members
      s.integer("track_heads", config.track_heads, 0, 1'000'000'000,
                "steps between scores of all heads, for `heads --over-training` (0: never)");
    }
    s.add(setting);
  }
  s.text("parent", config.parent, "the run that this one was made from");
  s.text("data_hash", config.data_hash, "of the task's data file");
  s.mark_decided({"parent", "data_hash"});
  return s;
}

Settings user_settings_of(RunConfig& config) {
  const Settings all = settings_of(config);
  Settings mine;
  for (const Setting& setting : all.all())
    if (!setting.decided) mine.add(setting);
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
  initialize(model, streams::initial_values(config.train.seed));
  return model;
}

}  // namespace headlab
