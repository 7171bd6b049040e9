// `headlab explain WORD`: what a word of the program's tables and lists means, wherever it stands:
// a column, a score of heads, a pruning method, a task. Needs no run. Words are those of the tables
// themselves, so what is added there is explained here. Read next: list.cc.
#include "cli/commands.h"
#include "headlab/heads/scores.h"
#include "headlab/prune/methods.h"
#include "headlab/report/columns.h"
#include "headlab/tasks/table.h"

namespace headlab::cli {
namespace {

struct Meaning {
  std::string word, kind, text;
};

std::vector<Meaning> meanings() {
  std::vector<Meaning> all;
  for (const ColumnEntry& column : column_table())
    all.push_back({column.name, "a column", column.meaning});
  for (const ScoreEntry& score : score_table())
    all.push_back({score.name, "a score of heads", score.meaning});
  for (const PruneMethod& method : prune_table())
    all.push_back({method.name, "a pruning method", method.summary});
  for (const TaskEntry& task : task_table()) all.push_back({task.name, "a task", task.summary});
  return all;
}

}  // namespace

Result explain(Invocation& call) {
  call.read({});
  const std::string word = join(call.positionals(), " ");
  const std::vector<Meaning> all = meanings();
  require_known("word", word, texts_of(all, &Meaning::word));
  std::string shown;
  Json found = Json::array();
  for (const auto& [name, kind, meaning] : all) {
    if (name != word) continue;
    shown += text(name, ", ", kind, ": ", meaning, "\n");
    found.push_back(Json::object({{"kind", kind}, {"meaning", meaning}}));
  }
  return {.json = stamped({{"word", word}, {"meanings", std::move(found)}}), .text = shown};
}

}  // namespace headlab::cli
