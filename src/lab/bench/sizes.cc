// Named sizes of models for benchmarks: those that other projects measure, and the recommended
// sizes of every task, which come from the table of tasks. To add one, write a row of kConfigs.
// Read next: bench.cc.
#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/tasks/table.h"
#include "headlab/lab/bench/bench.h"
#include "headlab/lab/runs/run_config.h"

namespace headlab {
namespace {

struct NamedConfig {
  const char* name;
  const char* settings;
};

constexpr NamedConfig kConfigs[] = {
    {"toy", "layers=2 heads=4 d_model=64 d_ff=256 length=32 vocab=64 batch=64 steps=120"},
    // the CPU example of nanoGPT's README
    {"char", "layers=4 heads=4 d_model=128 d_ff=512 length=64 vocab=65 batch=12 steps=90"},
    {"medium", "layers=6 heads=6 d_model=384 d_ff=1536 length=256 vocab=65 batch=4 steps=15"},
    {"long", "layers=2 heads=4 d_model=128 d_ff=512 length=1024 vocab=65 batch=4 steps=15"},
    // the CPU example of llm.c's README
    {"gpt2", "layers=12 heads=12 d_model=768 d_ff=3072 length=64 vocab=50257 batch=4 steps=7"},
};

/// Timed steps of the sizes of a task, which take one to a few milliseconds.
constexpr Index kStepsOfTask = 120;

/// Returns the recommended model and batch of a task.
BenchOptions options_of_task(const std::string& task) {
  RunConfig config = recommended_config(task);
  fit_to_task(config);
  fit_heads(config.model);
  return {.config = task,
          .batch = config.train.batch,
          .steps = kStepsOfTask,
          .model = config.model};
}

}  // namespace

std::vector<std::string> bench_config_names() { return texts_of(kConfigs, &NamedConfig::name); }

BenchOptions bench_options(const std::string& name) {
  for (const NamedConfig& config : kConfigs) {
    if (config.name != name) continue;
    BenchOptions options{.config = name};
    options.model.init = InitialValues::gpt2;
    settings_of(options).set_all_text(config.settings);
    return options;
  }
  const std::vector<std::string> tasks = texts_of(task_table(), &TaskEntry::name);
  const std::string task = name.substr(0, name.find(':'));
  if (std::ranges::count(tasks, task) > 0) return options_of_task(name);
  std::vector<std::string> known = bench_config_names();
  known.insert(known.end(), tasks.begin(), tasks.end());
  throw unknown_name("configuration", name, known);
}

}  // namespace headlab
