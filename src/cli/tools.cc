// `headlab list` and `check`: commands that need no run. Lists are read from the tables of
// tasks, scores and pruning methods, so what is added there shows here. Read next: tasks/table.h,
// prune/methods.h.
#include <algorithm>

#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/error.h"
#include "headlab/base/version.h"
#include "headlab/cli/check.h"
#include "headlab/heads/scores.h"
#include "headlab/prune/methods.h"
#include "headlab/report/table.h"
#include "headlab/tasks/table.h"

namespace headlab::cli {
namespace {

struct Listing {
  struct Row {
    std::string name, meaning, usage;  // usage may be empty
  };
  const char* name;
  std::vector<Row> rows;
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
        {task.name, task.summary, text("--task ", task.name, ":", join(parameters, ","))});
  }
  return listing;
}

Listing list_scores() {
  Listing listing{"scores", {}};
  for (const ScoreEntry& score : score_table())
    listing.rows.push_back({score.name, score.meaning, ""});
  return listing;
}

Listing list_methods() {
  Listing listing{"methods", {}};
  for (const PruneMethod& method : prune_table())
    listing.rows.push_back({method.name, method.summary, ""});
  return listing;
}

Listing listing_of(const std::string& what) {
  if (what == "tasks") return list_tasks();
  if (what == "scores") return list_scores();
  if (what == "methods") return list_methods();
  const Error unknown = unknown_name("list", what, {"tasks", "scores", "methods"});
  throw UsageError(unknown.what(), unknown.hint());
}

Json listing_to_json(const Listing& listing) {
  Json json = Json::object();
  json["headlab"] = version();
  Json& list = json[listing.name] = Json::array();
  for (const Listing::Row& row : listing.rows) {
    Json entry = Json::object();
    entry["name"] = row.name;
    entry["summary"] = row.meaning;
    if (!row.usage.empty()) entry["usage"] = row.usage;
    list.push_back(std::move(entry));
  }
  return json;
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
  if (wants_help(arguments)) return print_help("list", "tasks|scores|methods", settings);
  const auto names =
      parse_arguments(arguments, signature_of("list", {"tasks|scores|methods"}), settings);
  const Listing listing = listing_of(names[0]);
  if (common.json) {
    print(listing_to_json(listing));
    return 0;
  }
  std::size_t width = 0;
  for (const Listing::Row& row : listing.rows) width = std::max(width, row.name.size() + 2);
  for (const Listing::Row& row : listing.rows) {
    print(padded(row.name, width) + row.meaning + "\n");
    if (!row.usage.empty()) print(padded("", width) + row.usage + "\n");
  }
  return 0;
}

int check_command(Arguments arguments) {
  CommonFlags common;
  const Settings settings = common.settings();
  if (wants_help(arguments)) return print_help("check", "", settings);
  parse_arguments(arguments, signature_of("check", {}), settings);
  common.apply();
  bool passed = true;
  Table table({"op", "case", "elements", "worst error", "verdict"});
  Json checks = Json::array();
  for (const CheckRow& row : gradient_checks()) {
    passed = passed && row.passed;
    table.add({row.op, row.description, std::to_string(row.elements), significant(row.worst_error),
               row.passed ? "ok" : "FAILED"});
    checks.push_back(check_to_json(row));
    if (!row.passed) note(row.text);
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

}  // namespace headlab::cli
