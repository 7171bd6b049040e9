// `headlab bench`: the training step, and the tables of bench/benchmarks.h. What was measured, and
// on what, is said beside every result, because times mean nothing without their machine. Read
// next: bench/bench.h.
#include "headlab/bench/bench.h"

#include <algorithm>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "headlab/bench/benchmarks.h"
#include "headlab/report/bench_text.h"
#include "headlab/report/table.h"

namespace headlab::cli {
namespace {

constexpr Index kRounds = 15;  // of tables, unless --steps says another number

std::string summaries() {
  std::string list = "\nstep       a training step beside the machine's limits\n";
  for (const Benchmark& benchmark : benchmarks())
    list += padded(benchmark.name, 11) + benchmark.summary + "\n";
  return list;
}

Result measured(const std::string& name, const BenchOptions& options) {
  for (const Benchmark& benchmark : benchmarks()) {
    if (name != benchmark.name) continue;
    const BenchTable table = benchmark.run(options);
    return {.json = to_json(table), .text = bench_text(table)};
  }
  const BenchResult step = bench_step(options);
  for (const std::string& warning : step.warnings) note("warning: " + warning);
  return {.json = to_json(step), .text = bench_text(step)};
}

}  // namespace

std::vector<std::string> benchmark_names() {
  std::vector<std::string> names = {"step"};
  for (const Benchmark& benchmark : benchmarks()) names.emplace_back(benchmark.name);
  return names;
}

Result bench(Invocation& call) {
  std::string config = call.value("config");
  BenchOptions options = as_usage([&] { return bench_options(config.empty() ? "toy" : config); });
  Settings settings;
  settings.add(named_text("config", join(bench_config_names(), "|"), config,
                          "where to begin; the other flags change it"));
  settings.add(settings_of(options));
  call.read(settings, {}, summaries());
  const std::string& name = call.positionals()[0];
  require_known("benchmark", name, benchmark_names());
  as_usage([&] { options.model.validate(); });
  if (name != "step" && !call.given("steps"))
    options.steps = options.quick ? 1 : std::min<Index>(options.steps, kRounds);
  Result result = measured(name, options);
  result.text += "again: " + call.again() + "\n";
  return result;
}

}  // namespace headlab::cli
