// `bench scaling` and `bench tasks`: whole steps in many sizes, which take turns. At a fixed
// d_model more heads are narrower heads, so the products cost the same, and only what is done once
// for each score (the soft maximum) grows with their number. Read next: bench.cc.
#include <memory>

#include "headlab/base/error.h"
#include "headlab/base/threads.h"
#include "headlab/base/timing.h"
#include "headlab/bench/benchmarks.h"
#include "headlab/tasks/table.h"
#include "headlab/train/run.h"

namespace headlab {
namespace {

const std::string kThreads = "threads";

/// A setting of the step, or the number of threads, and the values that it takes in turn.
struct Dimension {
  std::string setting;
  std::vector<Index> values;
};

std::vector<Dimension> dimensions() {
  std::vector<Index> threads = {1};
  while (2 * threads.back() <= thread_count()) threads.push_back(2 * threads.back());
  return {{"length", {16, 32, 64, 128}},   {"batch", {8, 16, 32, 64}},
          {"d_model", {32, 64, 128, 256}}, {"layers", {1, 2, 4, 8}},
          {"heads", {1, 2, 4, 8}},         {kThreads, threads}};
}

/// One step of each, with its number of threads.
struct Variant {
  std::string dimension;
  Index value;
  std::unique_ptr<TrainingStep> step;

  void run() const {
    const int before = thread_count();
    if (dimension == kThreads) set_thread_count(static_cast<int>(value));
    step->run();
    set_thread_count(before);
  }
};

/// d_ff keeps its ratio to d_model.
std::vector<Variant> variants_of(const BenchOptions& options) {
  std::vector<Variant> all;
  for (Dimension dimension : dimensions()) {
    const std::string& name = dimension.setting;
    if (options.quick) dimension.values.resize(1);
    for (const Index value : dimension.values) {
      BenchOptions changed = options;
      if (name == "d_model")
        changed.model.d_ff = options.model.d_ff / options.model.d_model * value;
      if (name != kThreads) settings_of(changed).set(name, value);
      all.push_back({name, value, std::make_unique<TrainingStep>(changed)});
    }
  }
  return all;
}

/// The model and the batch that a task recommends.
BenchOptions recommended_step(const TaskEntry& task, const BenchOptions& options) {
  RunConfig config = recommended_config(task.name);
  fit_to_task(config);
  BenchOptions step = options;
  step.config = task.name;
  step.model = config.model;
  step.batch = config.train.batch;
  return step;
}

}  // namespace

BenchTable bench_scaling(const BenchOptions& options) {
  const std::vector<Variant> variants = variants_of(options);
  std::vector<std::function<void()>> bodies;
  for (const Variant& variant : variants) bodies.push_back([&variant] { variant.run(); });
  const std::vector<double> ms = interleaved_medians(bodies, options.steps);
  BenchTable table{.about = bench_about(options),
                   .columns = {{"size", "size"},
                               {"value", "value", 0},
                               {"ms", "ms", 3},
                               {"ratio", "ratio to the first", 2}}};
  std::size_t first = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (variants[i].dimension != variants[first].dimension) first = i;
    table.rows.push_back({variants[i].dimension, variants[i].value, ms[i], ms[i] / ms[first]});
  }
  return table;
}

BenchTable bench_tasks(const BenchOptions& options) {
  std::vector<std::unique_ptr<Task>> tasks;
  std::vector<std::unique_ptr<TrainingStep>> steps;
  std::vector<std::function<void()>> bodies;
  for (const TaskEntry& entry : task_table()) {
    const BenchOptions step = recommended_step(entry, options);
    const Task& task = *tasks.emplace_back(make_task(entry.name));
    TrainingStep& training = *steps.emplace_back(
        std::make_unique<TrainingStep>(step, task.make_batch(Key{1}, step.batch, Split::train)));
    bodies.push_back([&task, n = step.batch, key = Key{2}]() mutable {
      task.make_batch(key = key.fold("next"), n, Split::train);
    });
    bodies.push_back([&training] { training.run(); });
  }
  const std::vector<double> ms = interleaved_medians(bodies, options.steps);
  BenchTable table{.about = bench_about(options),
                   .columns = {{"task", "task"},
                               {"batch", "batch", 0},
                               {"make_ms", "make a batch, ms", 4},
                               {"step_ms", "training step, ms", 3},
                               {"share", "share", 4}}};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    table.rows.push_back({task_table()[i].name, steps[i]->batch().size, ms[2 * i], ms[2 * i + 1],
                          ms[2 * i] / ms[2 * i + 1]});
  }
  return table;
}

}  // namespace headlab
