// The benchmarks of developers; to add one, write a function and a row of the table. Times of
// passes come from lab/bench/training_step.h, limits from machine.h. Read next: op_products.cc.
#include "tools/yardstick/benchmarks.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string_view>

#include "headlab/core/base/progress.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/model/initial.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/tensor/watch.h"
#include "headlab/lab/bench/profile.h"
#include "lab/bench/training_step.h"
#include "lab/runs/timing.h"
#include "support/cache_numbers.h"
#include "tools/yardstick/machine.h"
#include "tools/yardstick/op_products.h"

namespace headlab {
namespace {

/// Adds the limits of the machine, measured with the threads of each row, and shares of them.
Result against_limits(Result found) {
  Table& table = found.tables[0];
  const std::size_t threads_at = table.index_of("threads");
  const std::size_t gflops_at = table.index_of("gflops");
  table.append(
      {Column("peak_gflops", "peak GFLOP/s", "the machine's limit, measured in the same run")
           .fixed(1),
       Column("fraction_of_peak", "of peak", "GFLOP/s / peak: 1 is the limit").fixed(3),
       Column("best_gflops", "best GFLOP/s", "the fastest product, measured in the same run")
           .fixed(1),
       Column("fraction_of_best", "of best", "GFLOP/s / those of the fastest product").fixed(3),
       Column("triad_gbs", "triad GB/s", "largest memory bandwidth").fixed(1)});
  const int before = thread_count();
  for (Json::Array& row : table.rows) {
    set_thread_count(static_cast<int>(row[threads_at].integer()));
    const double gflops = row[gflops_at].number();
    const double peak = measure_fma_peak();
    const double best = measure_best_product();
    for (const double cell : {peak, gflops / peak, best, gflops / best, measure_triad()}) {
      row.push_back(cell);
    }
  }
  set_thread_count(before);
  return found;
}

Result measure_step(const BenchOptions& options) { return against_limits(bench_step(options)); }

Result measure_forward(const BenchOptions& options) {
  const TrainingStep step(options);
  const NoGrad no_grad;
  return against_limits(time_pass({options, 1, [&] { step.model.forward(step.batch); }}));
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

Result measure_generation(const BenchOptions& options) {
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
    const double numbers = static_cast<double>(numbers_in(cache));
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

Result measure_ops(const BenchOptions& options) {
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
    {"step", "a training step against the machine's limits", measure_step},
    {"forward", "a forward pass alone, as in analyses", measure_forward},
    {"ops", "every op of a training step, against the machine's limits", measure_ops},
    {"generation", "one token after 64, 256 ... --length tokens (preset: 4096, --batch 1)",
     measure_generation},
};

}  // namespace

std::span<const Benchmark> benchmarks() { return kBenchmarks; }

}  // namespace headlab
