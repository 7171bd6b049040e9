// `bench ops`: some steps under a profile. What an op's products cost is held against the FMA peak,
// what only moves numbers against the triad; both limits are measured in the same run. Read next:
// profile.cc, costs.cc.
#include <algorithm>

#include "headlab/bench/benchmarks.h"
#include "headlab/bench/machine.h"
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

BenchTable bench_ops(const BenchOptions& options) {
  TrainingStep step(options);
  step.run();
  Profile profile;
  step.run();
  profile.start();
  for (Index i = 0; i < options.steps; ++i) step.run();
  std::vector<ProfileRow> rows = profile.rows();
  BenchTable table{.about = bench_about(options),
                   .columns = {{"op", "op"},
                               {"pass", "pass"},
                               {"calls", "calls", 0},
                               {"ms", "ms", 3},
                               {"share", "share", 3},
                               {"gflops", "GFLOP/s", 1},
                               {"fraction_of_peak", "of peak", 3},
                               {"gbs", "GB/s", 1},
                               {"fraction_of_triad", "of triad", 3}}};
  table.about["peak_gflops"] = measure_fma_peak();
  table.about["triad_gbs"] = measure_triad();
  double all = 0;
  for (const ProfileRow& row : rows) all += row.seconds;
  for (ProfileRow& row : rows) {
    add_optimizer_cost(row, step.model().parameter_count());
    table.rows.push_back(line(row, static_cast<double>(options.steps), all, table.about));
  }
  table.about["step_ms"] = all / static_cast<double>(options.steps) * 1e3;
  return table;
}

}  // namespace headlab
