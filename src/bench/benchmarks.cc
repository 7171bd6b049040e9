// What the benchmarks share: the table of them, turns and medians, and the form of their results.
// Adding one is a function and a row. Read next: bench_ops.cc (a profile), bench_kernels.cc (gemm
// and attention), bench_scaling.cc (whole steps).
#include "headlab/bench/benchmarks.h"

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

}  // namespace headlab
