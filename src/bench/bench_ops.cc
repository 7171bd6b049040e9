// `bench ops`: training steps under a profile, where what an op's products cost is held against the
// FMA peak, and what only moves numbers against the triad. At a fixed d_model more heads are
// narrower heads: products cost the same, and only the softmax, which is done once for each score,
// grows with their number. Read next: profile.cc; src/prune/timing.cc, which
// times what removed heads save.
#include "headlab/base/progress.h"
#include "headlab/bench/bench.h"
#include "headlab/bench/profile.h"

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

}  // namespace headlab
