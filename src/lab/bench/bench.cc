// The training step as a benchmark: the step of the trainer without its batches and files (forward,
// cross-entropy, backward, norm, AdamW). Also the table of benchmarks; to add one, write a function
// and a row. Read next: machine.cc; profile.cc.
#include "headlab/lab/bench/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>

#include "headlab/core/base/build.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/model/initial.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/tensor/watch.h"
#include "headlab/core/train/optimizer.h"
#include "headlab/lab/bench/profile.h"
#include "lab/bench/products.h"
#include "lab/runs/timing.h"

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
Result bench_result(const BenchOptions& options, std::vector<Column> columns) {
  return {.about = stamped({{"build", build()},
                            {"config", options.config},
                            {"threads", thread_count()},
                            {"processors", processor_count()},
                            {"load_average", load_average()}}),
          .tables = {{"rows", std::move(columns)}}};
}

std::vector<Column> passes_columns() {
  return {
      Column("config", "config", "the sizes of the model").no_legend(),
      Column("threads", "threads", "number of threads").fixed(0).no_legend(),
      Column("median_ms", "median ms", "median time").fixed(2).no_legend(),
      Column("min_ms", "min ms", "shortest time").fixed(2).no_legend(),
      Column("tokens_per_s", "tokens/s", "tokens in a second").shown_as(Form::grouped).no_legend(),
      Column("gflops", "GFLOP/s", "10^9 multiplications and additions a second").fixed(1),
      Column("peak_gflops", "peak GFLOP/s", "the machine's limit, measured in the same run")
          .fixed(1),
      Column("fraction_of_peak", "of peak", "GFLOP/s / peak: 1 is the limit").fixed(3),
      Column("best_gflops", "best GFLOP/s", "the fastest product, measured in the same run")
          .fixed(1),
      Column("fraction_of_best", "of best", "GFLOP/s / those of the fastest product").fixed(3),
      Column("triad_gbs", "triad GB/s", "largest memory bandwidth").fixed(1),
      Column("peak_memory_mb", "memory MB", "largest memory of the process").fixed(0),
      Column("speedup", "speed-up", "pace / pace of the first row").fixed(2),
      Column("loops", "loops", "parallel loops in a pass").fixed(0),
      Column("largest_share", "largest share",
             "largest / mean share of a thread in the loops, counted: 1 is even")
          .fixed(2),
      Column("possible", "possible",
             "speed-up over one thread that shares and serial work allow, counted")
          .fixed(2)};
}

/// A pass to be timed: `forwards` is its work in forward passes.
struct TimedPass {
  const BenchOptions& options;
  double forwards;
  std::function<void()> run;
};

/// Measurements with one number of threads.
struct PassTimes {
  int threads;
  std::vector<double> ms;
  double memory_mb;
  LoopCounts counts;
};

PassTimes time_pass(const TimedPass& pass, int threads) {
  set_thread_count(threads);
  std::vector<double> ms = time_steps(pass.run, pass.options.steps);
  return {threads, std::move(ms), peak_memory_mb(), count_loops(threads, pass.run)};
}

/// Returns a row of passes_columns(). Measures the limits of the machine.
Json::Array row_of(const TimedPass& pass, const PassTimes& times, double first_ms) {
  set_thread_count(times.threads);
  const double batch = static_cast<double>(pass.options.batch), ms = median(times.ms);
  const double tokens = batch * static_cast<double>(pass.options.model.tokens_per_sequence());
  const double gflops = pass.forwards * batch * pass.options.model.operations() / ms / 1e6;
  const double peak = measure_fma_peak(), best = measure_best_product();
  return {pass.options.config,
          times.threads,
          ms,
          times.ms[0],
          tokens / ms * 1e3,
          gflops,
          peak,
          gflops / peak,
          best,
          gflops / best,
          measure_triad(),
          times.memory_mb,
          first_ms / ms,
          times.counts.loops,
          times.counts.largest_share(times.threads),
          times.counts.possible_speedup()};
}

/// Times a pass with each number of threads, and compares it with the limits of the machine.
Result bench_passes(const TimedPass& pass) {
  Result found = bench_result(pass.options, passes_columns());
  Table& table = found.tables[0];
  std::vector<int> all = pass.options.threads;
  const int before = thread_count();
  if (all.empty()) all = {before};
  if (all.size() == 1) table.name = "";  // the only row belongs to the result
  if (pass.options.steps == 0) return found;
  std::vector<PassTimes> times;
  for (const int threads : all) times.push_back(time_pass(pass, threads));
  for (const PassTimes& one : times) {  // now, because the limits need memory of their own
    table.rows.push_back(row_of(pass, one, median(times[0].ms)));
  }
  set_thread_count(before);
  if (*std::ranges::max_element(all) > processor_count()) {
    table.note = text("Times with more than ", processor_count(),
                      " threads are those of this many: this process may use ", processor_count(),
                      " processors. Counted columns are for as many processors as threads.");
  }
  return found;
}

Result bench_step(const BenchOptions& options) {
  TrainingStep step(options);
  return bench_passes({options, 3, [&] { step.run(); }});
}

Result bench_forward(const BenchOptions& options) {
  const TrainingStep step(options);
  const NoGrad no_grad;
  return bench_passes({options, 1, [&] { step.model.forward(step.batch); }});
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

Result bench_generation(const BenchOptions& options) {
  Result found = bench_result(options, generation_columns());
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

/// Products of the ops of a step, by op and pass.
using ProductsOfOps = std::map<std::pair<std::string, std::string>, std::vector<Product>>;

ProductsOfOps products_in(TrainingStep& step) {
  ProductsOfOps found;
  const WorkWatch watch([&](const WorkEvent& event) {
    std::vector<Product>& all = found[{event.name, pass_of(event)}];
    const std::vector<Product> more = products_of(event);
    all.insert(all.end(), more.begin(), more.end());
  });
  step.run();
  return found;
}

/// Adds two columns: the milliseconds of the products of each op alone, and their share of its
/// time.
void add_products_alone(Table& table, const ProductsOfOps& products) {
  const std::size_t ms = table.index_of("ms");
  table.append(
      {Column("alone_ms", "products alone", "ms of the same products of linear maps alone, cold")
           .fixed(3),
       Column("of_alone", "of alone", "products alone / ms: 1 if the op takes no other time")
           .fixed(3)});
  ProductTimer timer;
  for (Json::Array& row : table.rows) {
    const auto of_op = products.find({row[0].string(), row[1].string()});
    double alone = 0;
    for (std::size_t i = 0; of_op != products.end() && i < of_op->second.size(); ++i) {
      alone += timer.milliseconds_of(of_op->second[i]);
    }
    row.push_back(alone > 0 ? Json(alone) : Json());
    row.push_back(alone > 0 ? Json(alone / row[ms].number()) : Json());
  }
}

/// Adds the cost of the optimizer, which is no op: AdamW reads four arrays and writes three, the
/// norm reads one.
void add_optimizer_cost(ProfileRow& row, Index parameters) {
  const double bytes = static_cast<double>(parameters * row.calls) * sizeof(Scalar);
  if (row.name == "optimizer") row.cost.bytes = 7 * bytes;
  if (row.name == "gradient norm") row.cost.bytes = bytes;
}

Result bench_ops(const BenchOptions& options) {
  Result found = bench_result(options, {});
  std::vector<ProfileRow> rows;
  ProductsOfOps products;
  Limits limits{};
  if (options.steps > 0) {
    TrainingStep step(options);
    products = products_in(step);
    Profile profile;
    step.run();
    profile.start();
    Steps steps(options.steps);
    for (Index i = 0; i < options.steps; ++i, steps.done()) step.run();
    rows = profile.rows();
    for (ProfileRow& row : rows) add_optimizer_cost(row, step.model.parameter_count());
    limits = {measure_fma_peak(), measure_triad(), measure_best_product()};
    found.about["peak_gflops"] = limits.gflops;
    found.about["best_gflops"] = limits.product_gflops;
    found.about["triad_gbs"] = limits.gbs;
  }
  found.tables = {profile_table(rows, static_cast<double>(options.steps), limits)};
  Table& table = found.tables[0];
  table.name = "rows";
  table.column("work") = {"op", "op"};
  table.column("ms").digits = 3;
  add_products_alone(table, products);
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
