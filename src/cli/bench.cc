// `headlab bench`: the training step, and the tables of bench/benchmarks.h, shown as text or JSON
// by their columns. What was measured, and on what, is said beside every result. Read next:
// bench/bench.h.
#include <algorithm>

#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/error.h"
#include "headlab/bench/benchmarks.h"
#include "headlab/report/table.h"

namespace headlab::cli {
namespace {

constexpr Index kRounds = 15;  // of tables, unless --steps says another number

std::vector<std::string> benchmark_names() {
  std::vector<std::string> names = {"step"};
  for (const Benchmark& benchmark : benchmarks()) names.emplace_back(benchmark.name);
  return names;
}

std::string step_text(const BenchResult& result) {
  Table table({"config", "threads", "median ms", "min ms", "tokens/s", "GFLOP/s", "peak GFLOP/s",
               "share of peak", "triad GB/s", "memory MB"});
  table.add({result.config, std::to_string(result.threads), fixed(result.median_ms, 2),
             fixed(result.min_ms, 2), grouped(static_cast<Index>(result.tokens_per_s)),
             fixed(result.gflops, 1), fixed(result.peak_gflops, 1),
             fixed(result.fraction_of_peak, 3), fixed(result.triad_gbs, 1),
             fixed(result.peak_memory_mb, 0)});
  return table.text();
}

std::string cell(const Json& value, int digits) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.string();
  return fixed(value.number(), std::max(0, digits));
}

/// "name value, name value" of plain members.
std::string about_text(const Json& about) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : about.members()) {
    if (key == "headlab") continue;
    parts.push_back(key + " " + (value.is_string() ? value.string() : significant(value.number())));
  }
  return join(parts, ", ") + "\n";
}

const Benchmark* find_benchmark(const std::string& name) {
  for (const Benchmark& benchmark : benchmarks())
    if (name == benchmark.name) return &benchmark;
  return nullptr;
}

/// What the benchmark says, as text or JSON.
std::string measured(const std::string& name, const BenchOptions& options, bool json) {
  if (const Benchmark* benchmark = find_benchmark(name)) {
    const BenchTable table = benchmark->run(options);
    return json ? to_json(table).dump(2) + "\n"
                : table_text(table) + "\n" + about_text(table.about);
  }
  const BenchResult result = bench_step(options);
  for (const std::string& warning : result.warnings) note("warning: " + warning);
  if (json) return to_json(result).dump(2) + "\n";
  return step_text(result) + "\n" + about_text(result.about);
}

int help(const Settings& settings, const std::vector<std::string>& names) {
  print_help("bench", join(names, "|"), settings);
  std::string list = "\nstep       a training step beside the machine's limits\n";
  for (const Benchmark& benchmark : benchmarks())
    list += padded(benchmark.name, 11) + benchmark.summary + "\n";
  print(list);
  return 0;
}

}  // namespace

std::string table_text(const BenchTable& bench) {
  std::vector<std::string> header;
  for (const BenchColumn& column : bench.columns) header.emplace_back(column.heading);
  Table table(header);
  for (const Json::Array& row : bench.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i)
      cells.push_back(cell(row[i], bench.columns[i].digits));
    table.add(std::move(cells));
  }
  return table.text();
}

int bench_command(Arguments arguments) {
  CommonFlags common;
  std::string config = find_value(arguments, "--config");
  BenchOptions options = as_usage([&] { return bench_options(config.empty() ? "toy" : config); });
  Settings settings;
  settings.add(named_text("config", join(bench_config_names(), "|"), config,
                          "where to begin; the other flags change it"));
  settings.add(settings_of(options));
  settings.add(common.settings());
  const std::vector<std::string> names = benchmark_names();
  if (wants_help(arguments)) return help(settings, names);
  std::vector<std::string> set;
  const auto given =
      parse_arguments(arguments, signature_of("bench", {join(names, "|")}), settings, &set);
  if (given[0] != "step" && find_benchmark(given[0]) == nullptr) {
    const Error unknown = unknown_name("benchmark", given[0], names);
    throw UsageError(unknown.what(), unknown.hint());
  }
  as_usage([&] { options.model.validate(); });
  common.apply();
  if (given[0] != "step" && std::find(set.begin(), set.end(), "steps") == set.end())
    options.steps = options.quick ? 1 : std::min<Index>(options.steps, kRounds);
  const std::string result = measured(given[0], options, common.json);
  print(common.json ? result : result + "again: " + again("bench", arguments) + "\n");
  return 0;
}

}  // namespace headlab::cli
