// `headlab list`: lists all tasks, kinds of attention and other parts, scores, words of
// conclusions, pruning methods, columns and files. Lists are made from their tables, so new rows
// appear automatically. Needs no run. Read next: core/tasks/table.h, lab/prune/methods.h.
#include <algorithm>

#include "app/cli/commands.h"
#include "app/report/results.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab::cli {
namespace {

struct Listed {
  std::string name, summary, usage = "";  // usage may be empty
  const TaskEntry* task = nullptr;
};

std::vector<Listed> listed_files() {
  std::vector<Listed> rows;
  for (const ResultEntry& entry : result_table()) {
    if (entry.file.empty()) {
      continue;
    }
    const std::string keys = keys_of(entry);
    rows.push_back({entry.file, entry.meaning, keys.empty() ? "" : "keys: " + keys});
  }
  return rows;
}

/// Kinds of model parts, with the flag that chooses each.
std::vector<Listed> listed_kinds() {
  std::vector<Listed> rows;
  const auto add = [&](const auto& kinds, const char* flag) {
    for (const auto& kind : kinds) {
      rows.push_back({kind.name, kind.summary, text(flag, " ", kind.name)});
    }
  };
  add(attention_functions(), "--attention-function");
  add(block_wirings(), "--norm-place");
  add(kPositions, "--positions");
  add(kNorms, "--norm");
  add(kActivations, "--activation");
  add(kBlocks, "--block");
  return rows;
}

std::vector<Listed> listed(const std::string& what) {
  if (what == "files") return listed_files();
  std::vector<Listed> rows;
  if (what == "tasks") {
    for (const TaskEntry& task : task_table()) {
      rows.push_back(
          {task.name, task.summary, "--task " + spec_text(task.name, task.parameters()), &task});
    }
  } else if (what == "columns") {
    for (const ListedColumn& listed : all_columns()) {
      rows.push_back({listed.column.title, listed.column.meaning});
    }
  } else if (what == "kinds") {
    rows = listed_kinds();
  } else if (what == "scores") {
    for (const ScoreEntry& score : score_table()) rows.push_back({score.name, score.meaning});
  } else {
    for (const PruneMethod& method : prune_table()) rows.push_back({method.name, method.summary});
  }
  return rows;
}

Table conclusions_table(const std::vector<ConclusionWord>& words) {
  using Row = ConclusionWord;
  Fields<Row> fields;
  fields.add(Column("name", "name", "the conclusion, as printed").no_legend(), &Row::words);
  fields.add(Column("rule", "rule", "conditions of the conclusion").no_legend(), &Row::rule);
  fields.add(Column("test", "test", "test against chance").no_legend(), &Row::test);
  fields.add(Column("correction", "correction", "correction for multiple tests").no_legend(),
             &Row::correction);
  fields.add(Column("about", "about", "subject of the conclusion").no_legend(), &Row::about);
  fields.add(Column("guards", "guards", "guards that the conclusion passes").no_legend(),
             [](const Row& row) { return join(row.guards, ", "); });
  return fields.table({.name = "verdicts"}, words);
}

/// A list, and what it holds.
struct ListKind {
  const char* name;
  const char* summary;
};

constexpr ListKind kLists[] = {
    {"tasks", "tasks to train on, with their parameters"},
    {"kinds", "kinds of model parts, with the flag that chooses each"},
    {"scores", "scores of heads"},
    {"verdicts", "words of conclusions, with their rules and tests"},
    {"methods", "pruning methods"},
    {"columns", "columns of tables"},
    {"files", "files of a run, with the command that writes each"},
};

/// Returns the lists and what each holds.
Output list_lists() {
  std::string shown;
  Json entries = Json::array();
  for (const ListKind& kind : kLists) {
    entries.push_back(Json::object({{"name", kind.name}, {"summary", kind.summary}}));
    shown += beside(kind.name, 10, kind.summary);
  }
  shown += "\nfor example: headlab list tasks\n";
  return {.json = stamped({{"lists", std::move(entries)}}), .text = shown};
}

/// Returns every word of conclusions with its rule, test, correction and subject.
Output list_conclusions() {
  Json entries = Json::array();
  std::string shown;
  std::size_t width = 0;
  const std::vector<ConclusionWord> all = conclusion_words();
  for (const ConclusionWord& one : all) width = std::max(width, one.words.size() + 2);
  for (const ConclusionWord& one : all) {
    entries.push_back(Json::object({{"name", one.words},
                                    {"summary", one.rule},
                                    {"test", one.test},
                                    {"correction", one.correction},
                                    {"about", one.about},
                                    {"guards", one.guards}}));
    shown += beside(one.words, width, one.rule);
    shown += beside("", width, text("test: ", one.test));
    shown += beside("", width, text("correction: ", one.correction));
    shown += beside("", width, text("about: ", one.about));
    if (!one.guards.empty()) {
      shown += beside("", width, text("guards: ", join(one.guards, ", ")));
    }
  }
  return {.json = stamped({{"verdicts", std::move(entries)}}),
          .text = shown,
          .tables = {conclusions_table(all)}};
}

Table listed_table(const std::string& what, const std::vector<Listed>& rows) {
  Fields<Listed> fields;
  fields.add(Column("name", "name", "name").no_legend(), &Listed::name);
  fields.add(Column("summary", "summary", "meaning").no_legend(), &Listed::summary);
  fields.add(Column("usage", "usage", "flag or setting").no_legend(), &Listed::usage);
  return fields.table({.name = what}, rows);
}

}  // namespace

Result list_shape() {
  Result shape;
  for (const ListKind& kind : kLists) {
    if (kind.name != std::string_view("verdicts")) {
      shape.tables.push_back(listed_table(kind.name, {}));
    }
  }
  shape.tables.push_back(conclusions_table({}));
  return shape;
}

std::vector<std::string> list_names() { return texts_of(kLists, &ListKind::name); }

Output list(Invocation& call) {
  call.read({});
  if (call.positionals().empty()) return list_lists();
  const std::string& what = call.positionals()[0];
  require_known("list", what, list_names());
  if (what == "verdicts") return list_conclusions();
  const std::vector<Listed> rows = listed(what);
  std::size_t width = 0;
  for (const Listed& row : rows) width = std::max(width, row.name.size() + 2);
  Json entries = Json::array();
  std::string shown;
  for (const auto& [name, summary, usage, task] : rows) {
    entries.push_back(Json::object({{"name", name}, {"summary", summary}}));
    shown += beside(name, width, summary);
    if (usage.empty()) continue;
    entries.items().back()["usage"] = usage;
    shown += beside("", 4, usage);
    if (task == nullptr) continue;
    entries.items().back()["learned"] = to_json(task->learned);
    if (const std::string said = learned_text(task->learned); !said.empty()) {
      shown += beside("", width, said);
    }
  }
  return {.json = stamped({{what, std::move(entries)}}),
          .text = shown,
          .tables = {listed_table(what, rows)}};
}

}  // namespace headlab::cli
