// The training step as a benchmark: the step of the trainer without its batches and files (forward,
// cross-entropy, backward, norm, AdamW). Also the table of benchmarks; to add one, write a function
// and a row. Read next: machine.cc; profile.cc.
#include "headlab/bench/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "base/timing.h"
#include "headlab/base/build.h"
#include "headlab/base/error.h"
#include "headlab/base/progress.h"
#include "headlab/base/threads.h"
#include "headlab/bench/profile.h"
#include "headlab/model/initial.h"
#include "headlab/tensor/tape.h"
#include "headlab/tensor/watch.h"
#include "headlab/train/optimizer.h"

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

Index warmup_of(Index steps) { return std::max<Index>(1, steps / 3); }

/// Returns the milliseconds of each call of `run` after the warm-up, sorted.
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

/// Returns the median of all values from index `first` on.
double median(std::vector<double> values, Index first = 0) {
  values.erase(values.begin(), values.begin() + first);
  std::ranges::sort(values);
  return values[values.size() / 2];
}

constexpr TrainConfig kTraining{.lr = 1e-4, .clip = 1};

/// Model with an optimizer and a batch of random tokens that stays the same.
struct TrainingStep {
  explicit TrainingStep(const BenchOptions& options)
      : model(options.model), batch(random_batch(options)) {
    initialize(model, Key{1}.fold("bench"));
    model.visit(
        [&](const std::string& name, const Tensor& parameter) { optimizer.add(name, parameter); });
  }
  /// Runs forward, cross-entropy, backward, norm, clip and AdamW.
  void run() {
    backward(model.loss(batch, {.training = true, .key = {}}));
    const double norm = optimizer.gradient_norm();
    note_work("gradient norm");
    optimizer.step(kTraining.lr, norm);
    note_work("optimizer");
  }
  Transformer model;
  Batch batch;
  Optimizer optimizer{kTraining};
};

/// Returns the number of programs that were running or waiting for a processor during the last
/// minute; 0 if the system does not report it.
double load_average() {
  double minute = 0;
  return getloadavg(&minute, 1) == 1 ? minute : 0;
}

/// Returns an empty result of a benchmark with these options: one table, "rows", without rows yet.
Finding bench_finding(const BenchOptions& options, std::vector<Column> columns) {
  return {.about = stamped({{"build", build()},
                            {"config", options.config},
                            {"threads", thread_count()},
                            {"processors", processor_count()},
                            {"load_average", load_average()}}),
          .tables = {{"rows", std::move(columns)}}};
}

/// Times `run`, which does the work of this many forward passes, and compares it with the limits of
/// the machine.
Finding bench_passes(const BenchOptions& options, double passes, const std::function<void()>& run) {
  Finding found = bench_finding(
      options,
      {Column("config", "config", "the sizes of the model").no_legend(),
       Column("threads", "threads", "number of threads").fixed(0).no_legend(),
       Column("median_ms", "median ms", "median time").fixed(2).no_legend(),
       Column("min_ms", "min ms", "shortest time").fixed(2).no_legend(),
       Column("tokens_per_s", "tokens/s", "tokens in a second").shown_as(Form::grouped).no_legend(),
       Column("gflops", "GFLOP/s", "10^9 multiplications and additions a second").fixed(1),
       Column("peak_gflops", "peak GFLOP/s", "the machine's limit, measured in the same run")
           .fixed(1),
       Column("fraction_of_peak", "of peak", "GFLOP/s / peak: 1 is the limit").fixed(3),
       Column("triad_gbs", "triad GB/s", "largest memory bandwidth").fixed(1),
       Column("peak_memory_mb", "memory MB", "largest memory of the process").fixed(0)});
  found.tables[0].name = "";
  if (options.steps == 0) return found;
  const std::vector<double> ms = time_steps(run, options.steps);
  const double memory = peak_memory_mb(), middle = median(ms);
  const auto tokens = static_cast<double>(options.batch * options.model.tokens_per_sequence());
  const double operations =
      passes * static_cast<double>(options.batch) * options.model.operations();
  const double gflops = operations / middle / 1e6, peak = measure_fma_peak();
  found.tables[0].rows = {{options.config, thread_count(), middle, ms[0], tokens / middle * 1e3,
                           gflops, peak, gflops / peak, measure_triad(), memory}};
  return found;
}

Finding bench_step(const BenchOptions& options) {
  TrainingStep step(options);
  return bench_passes(options, 3, [&] { step.run(); });
}

Finding bench_forward(const BenchOptions& options) {
  const TrainingStep step(options);
  const NoGrad no_grad;
  return bench_passes(options, 1, [&] { step.model.forward(step.batch); });
}

/// Returns the milliseconds of `run` spent in attention.
double attention_ms(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  double sum = 0;
  Clock::time_point before = Clock::now();
  const WorkWatch watch([&](const WorkEvent& event) {
    const std::chrono::duration<double, std::milli> taken = Clock::now() - before;
    if (std::string_view(event.name) == "attention") sum += taken.count();
    before = Clock::now();
  });
  run();
  return sum;
}

std::vector<Column> generation_columns() {
  return {Column("tokens", "tokens", "length of the sequence, including the new token")
              .shown_as(Form::grouped),
          Column("ms", "ms", "median time to generate the last token with cached keys and values")
              .fixed(3),
          Column("attention_ms", "attention", "median ms spent in attention").fixed(3),
          Column("other_ms", "the rest", "median ms spent in everything else").fixed(3),
          Column("anew_ms", "read again", "ms without a cache: all tokens are read again").fixed(3),
          Column("kept_mb", "kept MB", "10^6 bytes of keys and values").fixed(3)};
}

Finding bench_generation(const BenchOptions& options) {
  Finding found = bench_finding(options, generation_columns());
  if (options.steps == 0) return found;
  Transformer model(options.model);
  initialize(model, Key{1}.fold("bench"));
  const NoGrad no_grad;
  const auto tokens_of = [&](Index count) {
    return Batch::make(options.batch, count, 1, options.model.source_length,
                       options.model.features);
  };
  const Index length = options.model.length;
  for (Index tokens = std::min<Index>(64, length); tokens <= length; tokens *= 4) {
    const Batch all = tokens_of(tokens), last = tokens_of(1);
    ModelCache cache(options.model, tokens);
    if (tokens > 1) model.forward(tokens_of(tokens - 1), {}, {.cache = &cache});
    std::vector<double> whole, attention, rest;  // ms of each call, those of the warm-up first
    const auto read_last = [&] {
      ModelCache here = cache;  // shares its numbers: the token takes the same place each time
      double within = 0;
      const double ms = milliseconds(
          [&] { within = attention_ms([&] { model.forward(last, {}, {.cache = &here}); }); });
      whole.push_back(ms);
      attention.push_back(within);
      rest.push_back(ms - within);
    };
    time_steps(read_last, options.steps);
    const double anew = median(time_steps([&] { model.forward(all); }, options.steps));
    const Index warmup = warmup_of(options.steps);
    const double numbers = static_cast<double>(cache.numbers());
    found.tables[0].rows.push_back({tokens, median(whole, warmup), median(attention, warmup),
                                    median(rest, warmup), anew, numbers * sizeof(Scalar) / 1e6});
  }
  return found;
}

/// Adds the cost of the optimizer, which is no op: AdamW reads four arrays and writes three, the
/// norm reads one.
void add_optimizer_cost(ProfileRow& row, Index parameters) {
  const double bytes = static_cast<double>(parameters * row.calls) * sizeof(Scalar);
  if (row.name == "optimizer") row.cost.bytes = 7 * bytes;
  if (row.name == "gradient norm") row.cost.bytes = bytes;
}

Finding bench_ops(const BenchOptions& options) {
  Finding found = bench_finding(options, {});
  std::vector<ProfileRow> rows;
  Limits limits{};
  if (options.steps > 0) {
    TrainingStep step(options);
    step.run();
    Profile profile;
    step.run();
    profile.start();
    Steps steps(options.steps);
    for (Index i = 0; i < options.steps; ++i, steps.done()) step.run();
    rows = profile.rows();
    for (ProfileRow& row : rows) add_optimizer_cost(row, step.model.parameter_count());
    limits = {measure_fma_peak(), measure_triad()};
    found.about["peak_gflops"] = limits.gflops;
    found.about["triad_gbs"] = limits.gbs;
  }
  found.tables = {profile_table(rows, static_cast<double>(options.steps), limits)};
  Table& table = found.tables[0];
  table.name = "rows";
  table.column("work") = {"op", "op"};
  table.column("ms").digits = 3;
  double seconds = 0;
  for (const ProfileRow& row : rows) seconds += row.seconds;
  if (!rows.empty()) found.about["step_ms"] = seconds / static_cast<double>(options.steps) * 1e3;
  return found;
}

constexpr Benchmark kBenchmarks[] = {
    {"step", "a training step against the machine's limits", bench_step},
    {"forward", "a forward pass alone, as in analyses", bench_forward},
    {"ops", "every op of a training step, against the machine's limits", bench_ops},
    {"generation", "one token after 64, 256 ... --length tokens (preset: 4096, --batch 1)",
     bench_generation},
};

}  // namespace

std::vector<std::string> bench_config_names() { return texts_of(kConfigs, &NamedConfig::name); }

BenchOptions bench_options(const std::string& name) {
  BenchOptions options{.config = name};
  options.model.init = InitialValues::gpt2;
  settings_of(options).set_all_text(
      named("configuration", name, kConfigs, &NamedConfig::name).settings);
  return options;
}

Settings settings_of(BenchOptions& options) {
  Settings s;
  s.integer("batch", options.batch, 1, 1 << 20, "sequences in a step");
  s.integer("steps", options.steps, 1, 1 << 20, "timed steps");
  s.add(settings_of(options.model));
  return s;
}

std::span<const Benchmark> benchmarks() { return kBenchmarks; }

}  // namespace headlab
