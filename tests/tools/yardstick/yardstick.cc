// The program `yardstick`: headlab with the benchmarks of developers as commands. They take the
// flags of `headlab bench`, and --json, --csv and --latex as every command does.
// Read next: benchmarks.h.
//   yardstick step --config char --threads 1,2
//   yardstick ops --config char --steps 20 --threads 1 --json
//   yardstick generation --config char --steps 31
#include <algorithm>
#include <string>

#include "app/cli/commands.h"
#include "headlab/app/cli/command.h"
#include "headlab/core/base/threads.h"
#include "tools/yardstick/benchmarks.h"

namespace headlab::cli { namespace {

/// Reads the flags, runs a benchmark, and returns its result.
Output run_benchmark(Invocation& call, const std::string& name) {
  BenchOptions options = read_bench_options(call);
  const bool takes_threads = name == "step" || name == "forward";
  if (!takes_threads && !options.threads.empty()) {
    throw UsageError("cannot use several numbers of threads: this benchmark runs with one",
                     "give --threads one number");
  }
  if (name == "generation") {  // default: one long text
    if (!call.given("batch")) options.batch = 1;
    if (!call.given("length")) options.model.length = 4096;
  }
  const auto benchmark = std::ranges::find(benchmarks(), name, &Benchmark::name);
  return bench_output(call, benchmark->run(options));
}

Output step(Invocation& call) { return run_benchmark(call, "step"); }
Output forward(Invocation& call) { return run_benchmark(call, "forward"); }
Output ops(Invocation& call) { return run_benchmark(call, "ops"); }
Output generation(Invocation& call) { return run_benchmark(call, "generation"); }

/// Returns the table that each benchmark has if it has several rows.
Result rows_shape() { return {.tables = {{.name = "rows"}}}; }

}  // namespace
}  // namespace headlab::cli

int main(int count, char** values) {
  using namespace headlab::cli;
  constexpr const char* kGroup = "benchmarks";
  Additions additions;
  additions.commands = {{"step",
                         kGroup,
                         "a training step against the machine's limits",
                         "headlab step",
                         {},
                         step,
                         rows_shape},
                        {"forward",
                         kGroup,
                         "a forward pass alone, as in analyses",
                         "headlab forward",
                         {},
                         forward,
                         rows_shape},
                        {"ops",
                         kGroup,
                         "every op of a training step, against the machine's limits",
                         "headlab ops",
                         {},
                         ops,
                         rows_shape},
                        {"generation",
                         kGroup,
                         "one token after 64, 256 ... --length tokens (preset: 4096, --batch 1)",
                         "headlab generation",
                         {},
                         generation,
                         rows_shape}};
  return run_program(count, values, additions);
}
