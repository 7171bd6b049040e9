// What the benchmarks share: the table of them, turns and medians, and the form of their results.
// Adding one is a function and a row. Read next: bench_ops.cc (a profile), bench_kernels.cc (gemm
// and attention), bench_scaling.cc (whole steps).
#include "headlab/bench/benchmarks.h"

#include <algorithm>
#include <chrono>

namespace headlab {
namespace {

constexpr Benchmark kBenchmarks[] = {
    {"ops", "every op of a training step, beside the machine's limits", bench_ops},
    {"gemm", "matrix products over sizes and transposes", bench_gemm},
    {"attention", "fused and composed attention over lengths", bench_attention},
    {"scaling", "how a step grows with each size; heads are free", bench_scaling},
    {"tasks", "making batches, as a share of a training step", bench_tasks},
    {"pruned", "what half of the heads cost: all, masked, removed", bench_pruned},
};

}  // namespace

std::span<const Benchmark> benchmarks() { return kBenchmarks; }

Json BenchTable::to_json() const {
  Json json = about;
  Json& list = json["rows"] = Json::array();
  for (const Json::Array& row : rows) {
    Json entry = Json::object();
    for (std::size_t i = 0; i < columns.size(); ++i) entry[columns[i].key] = row[i];
    list.push_back(std::move(entry));
  }
  return json;
}

std::vector<double> interleaved_medians(std::span<const std::function<void()>> bodies,
                                        Index rounds) {
  std::vector<std::vector<double>> times(bodies.size());
  for (Index round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const auto begin = std::chrono::steady_clock::now();
      bodies[i]();
      const auto end = std::chrono::steady_clock::now();
      if (round > 0)
        times[i].push_back(std::chrono::duration<double, std::milli>(end - begin).count());
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& all : times) {
    std::sort(all.begin(), all.end());
    medians.push_back(all[all.size() / 2]);
  }
  return medians;
}

}  // namespace headlab
