// `headlab list`: what there is of tasks, scores, pruning methods, columns and files.
// Lists are read from their tables, so what is added there shows here.
// Needs no run. Read next: tasks/table.h, prune/methods.h.
#include <algorithm>

#include "cli/commands.h"
#include "headlab/heads/scores.h"
#include "headlab/prune/methods.h"
#include "headlab/report/columns.h"
#include "headlab/tasks/table.h"

namespace headlab::cli {
namespace {

struct Listed {
  std::string name, summary, usage = "";  // usage may be empty
  const TaskEntry* task = nullptr;
};

/// What is written where, with the keys of the JSON object that it is, or that a command prints.
constexpr const char* kFinding = " attention options step weights others command";
struct FileEntry {
  const char *name, *meaning, *keys;
  bool finding = false;  // kept beside a run, with kFinding
};
constexpr FileEntry kFiles[] = {
    {"config.json", "every setting of a run: `headlab train --help` says each",
     "task layers heads d_model parent data_hash pruning extended"},
    {"metrics.jsonl", "a line for each evaluation",
     "step loss accuracy targets train_loss lr gradient_norm seconds tokens_per_s"},
    {"heads.jsonl", "a line for each scoring while a run tracks its heads",
     "step examples attention best heads"},
    {"state.safetensors", "parameters, moments and counters: all that resuming needs", ""},
    {"model.safetensors", "the parameters, by name", ""},
    {"best.safetensors", "those with the lowest held-out loss, where a task reads a file", ""},
    {"heads.json", "what `heads` found",
     "examples different_examples permutations specialization relations heads distances seed "
     "settings",
     true},
    {"ablation.json", "what `ablate` found", "kind examples targets seed loss sets_per_s heads",
     true},
    {"interactions.json", "what `ablate --pairs` found", "kind examples targets seed loss pairs",
     true},
    {"gold_edges.json", "what `ablate --gold-edges` found", "examples draws seed relations", true},
    {"circuits.json", "what `circuits` found", "draws seed heads compositions", true},
    {"attribution.json", "what `attribute` found", "examples targets logits parts", true},
    {"patching.json", "what `patch` found", "pairs targets clean corrupted heads residual", true},
    {"curve.json", "what `curve` found",
     "task heads needed full none owners ablation methods left subsets settings", true},
    {"michel.json", "what `reproduce michel` found",
     "ablation one_head_per_layer curve shares by_step timing complete settings", true},
    {"voita.json", "what `reproduce voita` found",
     "heads needed steps full none rows chosen complete settings", true},
    {"prune.json", "what `prune` did, and how its run stands now",
     "attention kept removed_heads before without_finetuning after method seed examples steps "
     "gate_steps finetune finetuned pruning step weights timing unfinished command"},
    {"grid.json", "the grids of a sweep", "grids"},
    {"cell.json", "the result of a sweep's cell", "loss accuracy parameters keys roles"},
    {"sweep.json", "what came out of a sweep", "cells missing failed groups comparisons command"},
    {"prunings.json", "what came out of the prunings of a sweep",
     "methods finetune cells missing failed groups command"},
};

std::vector<Listed> listed_files() {
  std::vector<Listed> rows;
  for (const FileEntry& file : kFiles) {
    const std::string keys = text("headlab ", file.keys, file.finding ? kFinding : "");
    rows.push_back({file.name, file.meaning, *file.keys == '\0' ? "" : "keys: " + keys});
  }
  return rows;
}

std::vector<Listed> listed(const std::string& what) {
  if (what == "files") return listed_files();
  std::vector<Listed> rows;
  if (what == "tasks")
    for (const TaskEntry& task : task_table())
      rows.push_back(
          {task.name, task.summary, "--task " + spec_text(task.name, task.parameters()), &task});
  else if (what == "columns")
    for (const ColumnEntry& column : column_table()) rows.push_back({column.name, column.meaning});
  else if (what == "scores")
    for (const ScoreEntry& score : score_table()) rows.push_back({score.name, score.meaning});
  else
    for (const PruneMethod& method : prune_table()) rows.push_back({method.name, method.summary});
  return rows;
}

}  // namespace

Result list(Invocation& call) {
  call.read({});
  const std::string& what = call.positionals()[0];
  require_known("list", what, {"tasks", "scores", "methods", "columns", "files"});
  const std::vector<Listed> rows = listed(what);
  std::size_t width = 0;
  for (const Listed& row : rows) width = std::max(width, row.name.size() + 2);
  Json entries = Json::array();
  std::string shown;
  Texts table({"name", "summary", "usage"});
  for (const auto& [name, summary, usage, task] : rows) {
    table.add({name, summary, usage});
    entries.push_back(Json::object({{"name", name}, {"summary", summary}}));
    shown += beside(name, width, summary);
    if (usage.empty()) continue;
    entries.items().back()["usage"] = usage;
    shown += beside("", width, usage);
    if (task == nullptr) continue;
    entries.items().back()["learned"] = to_json(task->learned);
    if (const std::string said = learned_text(task->learned); !said.empty())
      shown += beside("", width, said);
  }
  (void)table.to_string();  // for --csv and --latex
  return {.json = stamped({{what, std::move(entries)}}), .text = shown};
}

}  // namespace headlab::cli
