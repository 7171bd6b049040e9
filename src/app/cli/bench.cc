// `headlab bench`: the training step and the other benchmarks of lab/bench/bench.h. Every result
// includes the machine and the build, because times mean nothing without them. Read next:
// lab/bench/bench.h.

#include <algorithm>

#include "app/cli/commands.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

std::string summaries() {
  std::string list = "\n";
  for (const Benchmark& benchmark : benchmarks()) {
    list += beside(benchmark.name, 11, benchmark.summary);
  }
  return list;
}

/// Returns "name value, name value"; the version and the build are shown elsewhere.
std::string about_text(const Json& about) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : about.members()) {
    if (key != "headlab" && key != "build") {
      parts.push_back(key + " " +
                      (value.is_number() ? significant(value.number()) : value_text(value)));
    }
  }
  return wrapped(join(parts, ", "), "", stdout_width());
}

/// Returns the numbers of threads to measure. Error if a benchmark that takes one is given several.
std::vector<int> threads_of(const Invocation& call, const std::string& benchmark) {
  if (call.threads().size() < 2) return {};
  if (benchmark != "step" && benchmark != "forward") {
    throw UsageError(text("cannot use several numbers of threads: `bench ", benchmark,
                          "` runs with one"),
                     "use `bench step` or `bench forward`, or give --threads one number");
  }
  std::vector<int> all;
  for (const std::int64_t count : call.threads()) {
    all.push_back(count > 0 ? static_cast<int>(count) : processor_count());
  }
  return all;
}

}  // namespace

Output bench(Invocation& call) {
  std::string config = call.given("config") ? call.value("config") : "toy";
  BenchOptions options = as_usage([&] { return bench_options(config); });
  Flags settings;
  settings.string("config", config, "sizes to start from; other flags change them",
                  join(bench_config_names(), "|"));
  settings.add(settings_of(options));
  for_models(settings);
  settings.takes_several_threads = true;
  settings.excludes({"dropout"}, {first_argument("forward"), first_argument("generation")});
  call.read(settings, {}, summaries());
  const std::string& name = call.positionals()[0];
  require_known("benchmark", name, texts_of(benchmarks(), &Benchmark::name));
  options.threads = threads_of(call, name);
  if (name == "generation") {  // default: one long text
    if (!call.given("batch")) options.batch = 1;
    if (!call.given("length")) options.model.length = 4096;
  }
  as_usage([&] { options.model.validate(); });
  if (!has_threads()) note("warning: this build has no threads and uses one core");
  const Result found = std::ranges::find(benchmarks(), name, &Benchmark::name)->run(options);
  Output output = reproducible(call, found, "\n" + about_text(found.about));
  output.text.insert(0, program_text() + "\n\n");
  return output;
}

}  // namespace headlab::cli
