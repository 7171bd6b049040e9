// The benchmarks of whole training steps: `ops`, under a profile, where what an op's products cost
// is held against the FMA peak and what only moves numbers against the triad; and `scaling`, steps
// in many sizes. At a fixed d_model more heads are narrower heads, so the products cost the same,
// and only the softmax, which is done once for each score, grows with their number. Read next:
// profile.cc; src/prune/timing.cc, which times what removed heads save.
#include <algorithm>
#include <memory>

#include "base/timing.h"
#include "headlab/base/progress.h"
#include "headlab/base/threads.h"
#include "headlab/bench/bench.h"
#include "headlab/bench/profile.h"
#include "headlab/train/run.h"

namespace headlab {
namespace {

/// The optimizer's work is no op: AdamW reads four arrays and writes three, the norm reads one.
void add_optimizer_cost(ProfileRow& row, Index parameters) {
  const double bytes = static_cast<double>(parameters * row.calls) * sizeof(Scalar);
  if (row.name == "optimizer") row.cost.bytes = 7 * bytes;
  if (row.name == "gradient norm") row.cost.bytes = bytes;
}

Json::Array line(const ProfileRow& row, double steps, double all_seconds, const Json& about) {
  const bool products = row.cost.operations > 0;
  const double gflops = row.cost.operations / row.seconds / 1e9;
  const double gbs = row.cost.bytes / row.seconds / 1e9;
  const auto if_any = [](bool any, double value) { return any ? Json(value) : Json(nullptr); };
  return {row.name,
          row.pass,
          static_cast<double>(row.calls) / steps,
          row.seconds / steps * 1e3,
          row.seconds / all_seconds,
          if_any(products, gflops),
          if_any(products, gflops / about.at("peak_gflops").number()),
          if_any(row.cost.bytes > 0, gbs),
          if_any(row.cost.bytes > 0, gbs / about.at("triad_gbs").number())};
}

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

/// A step that takes its turn with all others, on all threads or on `value` of them.
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

std::vector<Variant> variants_of(const BenchOptions& options) {
  std::vector<Variant> all;
  for (Dimension dimension : dimensions()) {
    const std::string& name = dimension.setting;
    if (options.quick) dimension.values.resize(1);
    for (const Index value : dimension.values) {
      BenchOptions changed = options;
      if (name == "d_model")
        changed.model.d_ff = options.model.d_ff * value / options.model.d_model;
      if (name != kThreads) settings_of(changed).set(name, value);
      fit_heads(changed.model);
      all.push_back({name, value, std::make_unique<TrainingStep>(changed)});
    }
  }
  return all;
}

}  // namespace

Finding bench_ops(const BenchOptions& options) {
  Finding found = bench_finding(options, {{"op", "op"},
                                          {"pass", "pass"},
                                          {"calls", "calls"},
                                          {"ms", "ms", "", 3},
                                          {"share", "share", "", 3},
                                          {"gflops", "GFLOP/s", "", 1},
                                          {"fraction_of_peak", "of peak", "", 3},
                                          {"gbs", "GB/s", "", 1},
                                          {"fraction_of_triad", "of triad", "", 3}});
  if (options.steps == 0) return found;
  TrainingStep step(options);
  step.run();
  Profile profile;
  step.run();
  profile.start();
  Steps steps(options.steps);
  for (Index i = 0; i < options.steps; ++i) {
    step.run();
    steps.done();
  }
  std::vector<ProfileRow> rows = profile.rows();
  found.about["peak_gflops"] = measure_fma_peak();
  found.about["triad_gbs"] = measure_triad();
  double all = 0;
  for (const ProfileRow& row : rows) all += row.seconds;
  for (ProfileRow& row : rows) {
    add_optimizer_cost(row, step.model().parameter_count());
    found.tables[0].rows.push_back(line(row, static_cast<double>(options.steps), all, found.about));
  }
  found.about["step_ms"] = all / static_cast<double>(options.steps) * 1e3;
  return found;
}

Finding bench_scaling(const BenchOptions& options) {
  Finding found = bench_finding(options, {{"size", "size"},
                                          {"value", "value"},
                                          {"ms", "ms", "", 3},
                                          {"ratio", "ratio to the first", "", 2}});
  if (options.steps == 0) return found;
  const std::vector<Variant> variants = variants_of(options);
  std::vector<std::function<void()>> bodies;
  for (const Variant& variant : variants) bodies.push_back([&variant] { variant.run(); });
  const std::vector<double> ms = interleaved_medians(bodies, options.steps);
  std::size_t first = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (variants[i].dimension != variants[first].dimension) first = i;
    found.tables[0].rows.push_back(
        {variants[i].dimension, variants[i].value, ms[i], ms[i] / ms[first]});
  }
  return found;
}

}  // namespace headlab
