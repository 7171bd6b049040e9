// `headlab list`: what there is of tasks, scores and pruning methods.
// Lists are read from their tables, so what is added there shows here.
// Needs no run. Read next: tasks/table.h, prune/methods.h.
#include <algorithm>

#include "cli/commands.h"
#include "headlab/heads/scores.h"
#include "headlab/prune/methods.h"
#include "headlab/report/table.h"
#include "headlab/tasks/table.h"

namespace headlab::cli {
namespace {

struct Listed {
  std::string name, summary, usage;  // usage may be empty
};

std::vector<Listed> list_tasks() {
  std::vector<Listed> rows;
  for (const TaskEntry& task : task_table()) {
    std::vector<std::string> parameters;
    const Settings settings = task.parameters();
    for (const Setting& setting : settings.all()) {
      const Json value = setting.get();
      parameters.push_back(setting.name + "=" +
                           (value.is_string() ? value.string() : value.dump()));
    }
    rows.push_back(
        {task.name, task.summary, text("--task ", task.name, ":", join(parameters, ","))});
  }
  return rows;
}

std::vector<Listed> listed(const std::string& what) {
  require_known("list", what, {"tasks", "scores", "methods"});
  if (what == "tasks") return list_tasks();
  std::vector<Listed> rows;
  if (what == "scores")
    for (const ScoreEntry& score : score_table()) rows.push_back({score.name, score.meaning, ""});
  else
    for (const PruneMethod& method : prune_table())
      rows.push_back({method.name, method.summary, ""});
  return rows;
}

}  // namespace

Result list(Invocation& call) {
  call.read({});
  const std::string& what = call.positionals()[0];
  const std::vector<Listed> rows = listed(what);
  std::size_t width = 0;
  for (const Listed& row : rows) width = std::max(width, row.name.size() + 2);
  Json entries = Json::array();
  std::string shown;
  for (const Listed& row : rows) {
    Json entry = Json::object({{"name", row.name}, {"summary", row.summary}});
    shown += padded(row.name, width) + row.summary + "\n";
    if (!row.usage.empty()) {
      entry["usage"] = row.usage;
      shown += padded("", width) + row.usage + "\n";
    }
    entries.push_back(std::move(entry));
  }
  return {.json = stamped({{what, std::move(entries)}}), .text = shown};
}

}  // namespace headlab::cli
