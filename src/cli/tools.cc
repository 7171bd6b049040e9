// `headlab list`, `check` and `bench`: commands that need no run.
#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/error.h"
#include "headlab/base/version.h"
#include "headlab/cli/check.h"
#include "headlab/heads/scores.h"
#include "headlab/lab/bench.h"
#include "headlab/prune/methods.h"
#include "headlab/report/table.h"
#include "headlab/tasks/table.h"

namespace headlab::cli {
namespace {

struct Listing {
  const char* name;
  std::vector<std::vector<std::string>> rows;  // name, then what it means
};

Listing list_tasks() {
  Listing listing{"tasks", {}};
  for (const TaskEntry& task : task_table()) {
    std::vector<std::string> parameters;
    const Settings settings = task.parameters();
    for (const Setting& setting : settings.all()) {
      const Json value = setting.get();
      parameters.push_back(setting.name + "=" +
                           (value.is_string() ? value.string() : value.dump()));
    }
    listing.rows.push_back(
        {task.name, text(task.summary, "; parameters: ", join(parameters, ","))});
  }
  return listing;
}

Listing list_scores() {
  Listing listing{"scores", {}};
  for (const ScoreEntry& score : score_table()) {
    listing.rows.push_back({score.name, score.meaning});
  }
  return listing;
}

Listing list_methods() {
  Listing listing{"methods", {}};
  for (const PruneMethod& method : prune_table()) {
    listing.rows.push_back({method.name, method.summary});
  }
  return listing;
}

Listing listing_of(const std::string& what) {
  if (what == "tasks") {
    return list_tasks();
  }
  if (what == "scores") {
    return list_scores();
  }
  if (what == "methods") {
    return list_methods();
  }
  const Error unknown = unknown_name("list", what, {"tasks", "scores", "methods"});
  throw UsageError(unknown.what(), unknown.hint());
}

std::string bench_text(const BenchResult& result) {
  Table table({"config", "threads", "median ms", "min ms", "tokens/s", "GFLOP/s", "peak GFLOP/s",
               "share of peak", "triad GB/s", "memory MB"});
  table.add({result.config, std::to_string(result.threads), fixed(result.median_ms, 2),
             fixed(result.min_ms, 2), grouped(static_cast<Index>(result.tokens_per_s)),
             fixed(result.gflops, 1), fixed(result.peak_gflops, 1),
             fixed(result.fraction_of_peak, 3), fixed(result.triad_gbs, 1),
             fixed(result.peak_memory_mb, 0)});
  return table.text();
}

Json check_to_json(const CheckRow& row) {
  Json json = Json::object();
  json["op"] = row.op;
  json["case"] = row.description;
  json["elements"] = row.elements;
  json["worst_error"] = row.worst_error;
  json["passed"] = row.passed;
  return json;
}

}  // namespace

int list_command(Arguments arguments) {
  CommonFlags common;
  const Settings settings = common.settings();
  const auto names = parse_arguments(arguments, {{"tasks|scores|methods"}, true}, settings);
  if (common.help) {
    print_help("list", "tasks|scores|methods", settings);
    return 0;
  }
  if (names.empty()) {
    throw UsageError("missing argument: list what?",
                     "headlab list tasks, headlab list scores, headlab list methods");
  }
  const Listing listing = listing_of(names[0]);
  if (common.json) {
    Json json = Json::object();
    json["headlab"] = version();
    Json& list = json[listing.name] = Json::array();
    for (const auto& row : listing.rows) {
      Json entry = Json::object();
      entry["name"] = row[0];
      entry["summary"] = row[1];
      list.push_back(std::move(entry));
    }
    print(json);
    return 0;
  }
  for (const auto& row : listing.rows) {
    print(padded(row[0], 12) + row[1] + "\n");
  }
  return 0;
}

int check_command(Arguments arguments) {
  CommonFlags common;
  const Settings settings = common.settings();
  parse_arguments(arguments, {}, settings);
  if (common.help) {
    print_help("check", "", settings);
    return 0;
  }
  common.apply();
  bool passed = true;
  Table table({"op", "case", "elements", "worst error", "verdict"});
  Json checks = Json::array();
  for (const CheckRow& row : gradient_checks()) {
    passed = passed && row.passed;
    table.add({row.op, row.description, std::to_string(row.elements), significant(row.worst_error),
               row.passed ? "ok" : "FAILED"});
    checks.push_back(check_to_json(row));
    if (!row.passed) {
      note(row.text);
    }
  }
  if (common.json) {
    Json json = Json::object();
    json["headlab"] = version();
    json["passed"] = passed;
    json["checks"] = std::move(checks);
    print(json);
  } else {
    print(table.text());
  }
  return passed ? 0 : 1;
}

int bench_command(Arguments arguments) {
  CommonFlags common;
  std::string config = find_value(arguments, "--config");
  BenchOptions options = bench_options(config.empty() ? "toy" : config);
  Settings settings;
  settings.text("config", config, join(bench_config_names(), ", ") + "; other flags change it");
  settings.add(settings_of(options));
  settings.add(common.settings());
  const auto names = parse_arguments(arguments, {{"step"}, true}, settings);
  if (common.help) {
    print_help("bench", "step", settings);
    return 0;
  }
  if (names.empty() || names[0] != "step") {
    throw UsageError(names.empty() ? "missing argument: bench what?"
                                   : text("unknown benchmark '", names[0], "'"),
                     "headlab bench step --config " + join(bench_config_names(), "|"));
  }
  common.apply();
  const BenchResult result = bench_step(options);
  for (const std::string& warning : result.warnings) {
    note("warning: " + warning);
  }
  if (common.json) {
    print(result.to_json());
  } else {
    print(bench_text(result));
  }
  return 0;
}

}  // namespace headlab::cli
