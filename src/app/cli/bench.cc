// `headlab bench`: time, pace and memory of a training step. Every result includes the machine and
// the build, because times mean nothing without them. The program of tests/tools/yardstick reads
// the same flags and shows its results in the same way. Read next: lab/bench/bench.h.

#include <algorithm>

#include "app/cli/commands.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

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

/// Returns the numbers of threads to measure; empty for the usual one.
std::vector<int> threads_of(const Invocation& call) {
  std::vector<int> all;
  if (call.threads().size() < 2) return all;
  for (const std::int64_t count : call.threads()) {
    all.push_back(count > 0 ? static_cast<int>(count) : processor_count());
  }
  return all;
}

}  // namespace

BenchOptions read_bench_options(Invocation& call) {
  std::string config = call.given("config") ? call.value("config") : "toy";
  BenchOptions options = as_usage([&] { return bench_options(config); });
  Flags settings;
  settings.naming(ValueKind::task, "config", config, "sizes to start from; other flags change them",
                  {.choices = bench_config_names()});
  settings.add(settings_of(options));
  for_models(settings);
  settings.takes_several_threads = true;
  call.read(settings);
  options.threads = threads_of(call);
  as_usage([&] { options.model.validate(); });
  if (!has_threads()) note("warning: this build has no threads and uses one core");
  return options;
}

Output bench_output(const Invocation& call, const Result& found) {
  Output output = reproducible(call, found, "\n" + about_text(found.about));
  output.text = program_text() + "\n\n" + output.text;
  return output;
}

Output bench(Invocation& call) { return bench_output(call, bench_step(read_bench_options(call))); }

}  // namespace headlab::cli
