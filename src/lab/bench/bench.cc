// The training step as a benchmark: the step of the trainer without its batches and files (forward,
// cross-entropy, backward, norm, AdamW). Benchmarks for developers, which compare it with the
// limits of the machine, are in tests/tools/yardstick. Read next: sizes.cc, the named sizes;
// profile.cc.
#include "headlab/lab/bench/bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>

#include "headlab/core/base/build.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/model/initial.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/tensor/watch.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"
#include "lab/bench/training_step.h"
#include "lab/runs/timing.h"

namespace headlab {
namespace {

Batch random_batch(const BenchOptions& options) {
  Generator random(Key{1}.fold("bench"));
  Batch batch = Batch::make(options.batch, options.model.length, options.model.targets,
                            options.model.source_length, options.model.features);
  for (Scalar& value : batch.vectors) value = static_cast<Scalar>(random.normal());
  const auto fill = [&](Ids& ids, Index most) {
    for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random.below(most));
  };
  fill(batch.tokens, options.model.vocab);
  fill(batch.targets, options.model.outputs());
  fill(batch.source, options.model.vocab);
  return batch;
}

constexpr TrainConfig kTraining{.lr = 1e-4, .clip = 1};

/// Returns the number of programs that were running or waiting for a processor during the last
/// minute; 0 if the system does not report it.
double load_average() {
  double minute = 0;
  return getloadavg(&minute, 1) == 1 ? minute : 0;
}

/// A pass, timed with a number of threads.
struct TimedRow {
  std::string config;
  int threads;
  double median_ms, min_ms, tokens_per_s, gflops, peak_memory_mb;
  double speedup;  // pace / pace of the first row
};

Fields<TimedRow> timed_fields() {
  using Row = TimedRow;
  Fields<Row> fields;
  fields.add(Column("config", "config", "the sizes of the model").no_legend(), &Row::config);
  fields.add(Column("threads", "threads", "number of threads").fixed(0).no_legend(), &Row::threads);
  fields.add(Column("median_ms", "median ms", "median time").fixed(2).no_legend(), &Row::median_ms);
  fields.add(Column("min_ms", "min ms", "shortest time").fixed(2).no_legend(), &Row::min_ms);
  fields.add(
      Column("tokens_per_s", "tokens/s", "tokens in a second").shown_as(Form::grouped).no_legend(),
      &Row::tokens_per_s);
  fields.add(Column("gflops", "GFLOP/s", "10^9 multiplications and additions a second").fixed(1),
             &Row::gflops);
  fields.add(Column("peak_memory_mb", "memory MB", "largest memory of the process").fixed(0),
             &Row::peak_memory_mb);
  fields.add(Column("speedup", "speed-up", "pace / pace of the first row").fixed(2), &Row::speedup);
  return fields;
}

/// Times a pass with a number of threads. `first_ms` is the median of the first row; 0 in that row.
TimedRow timed_row(const TimedPass& pass, int threads, double first_ms) {
  set_thread_count(threads);
  const std::vector<double> times = time_steps(pass.run, pass.options.steps);
  const double batch = static_cast<double>(pass.options.batch);
  const double ms = median(times);
  const double tokens = batch * static_cast<double>(pass.options.model.tokens_per_sequence());
  const double gflops = pass.forwards * batch * pass.options.model.operations() / ms / 1e6;
  return {pass.options.config,
          threads,
          ms,
          times[0],
          tokens / ms * 1e3,
          gflops,
          peak_memory_mb(),
          first_ms > 0 ? first_ms / ms : 1};
}

}  // namespace

TrainingStep::TrainingStep(const BenchOptions& options)
    : model(options.model), batch(random_batch(options)), optimizer(kTraining) {
  initialize(model, Key{1}.fold("bench"));
  model.visit(
      [&](const std::string& name, const Tensor& parameter) { optimizer.add(name, parameter); });
}

void TrainingStep::run() {
  backward(model.loss(batch, {.training = true, .key = {}}));
  const double norm = optimizer.gradient_norm();
  note_work("gradient norm");
  optimizer.step(kTraining.lr, norm);
  note_work("optimizer");
}

Index warmup_of(Index steps) { return std::max<Index>(1, steps / 3); }

std::vector<double> time_steps(const std::function<void()>& run, Index steps) {
  const Index warmup = warmup_of(steps);
  std::vector<double> times;
  Steps counted(warmup + steps);
  for (Index i = 0; i < warmup + steps; ++i) {
    times.push_back(milliseconds(run));
    counted.done();
  }
  times.erase(times.begin(), times.begin() + warmup);
  std::ranges::sort(times);
  return times;
}

double median(std::vector<double> values, Index first) {
  values.erase(values.begin(), values.begin() + first);
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Result bench_result(const BenchOptions& options, std::vector<Column> columns) {
  return {.about = stamped({{"build", build()},
                            {"config", options.config},
                            {"threads", thread_count()},
                            {"processors", processor_count()},
                            {"load_average", load_average()}}),
          .tables = {{"rows", std::move(columns)}}};
}

Result time_pass(const TimedPass& pass) {
  const Fields<TimedRow> fields = timed_fields();
  Result found = bench_result(pass.options, fields.columns());
  Table& table = found.tables[0];
  const int before = thread_count();
  std::vector<int> all = pass.options.threads;
  if (all.empty()) all = {before};
  if (all.size() == 1) {  // the only row belongs to the result
    table.name = "";
    found.about["threads"] = all[0];
  }
  if (pass.options.steps == 0) return found;
  std::vector<TimedRow> rows;
  for (const int threads : all) {
    const double first_ms = rows.empty() ? 0 : rows[0].median_ms;
    rows.push_back(timed_row(pass, threads, first_ms));
  }
  set_thread_count(before);
  table.rows = fields.table({}, rows).rows;
  if (*std::ranges::max_element(all) > processor_count()) {
    table.note = text("Times with more than ", processor_count(),
                      " threads are those of this many: this process may use ", processor_count(),
                      " processors.");
  }
  return found;
}

Result bench_step(const BenchOptions& options) {
  TrainingStep step(options);
  return time_pass({options, 3, [&] { step.run(); }});
}

double peak_memory_mb() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#ifdef __APPLE__
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);
#else
  return static_cast<double>(usage.ru_maxrss) / 1024;
#endif
}

Settings settings_of(BenchOptions& options) {
  Settings s;
  s.integer("batch", options.batch, 1, 1 << 20, "sequences in a step");
  s.integer("steps", options.steps, 1, 1 << 20, "timed steps");
  s.add(settings_of(options.model));
  return s;
}

}  // namespace headlab
