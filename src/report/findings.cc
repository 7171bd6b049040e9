// The table of what is found. What is added here is listed, explained and shown by the page. A row
// with a shape needs no list of keys: its columns have them.
// Read next: src/cli/list.cc, src/report/page_history.cc.
#include "report/findings.h"

#include <algorithm>
#include <set>

#include "headlab/base/error.h"
#include "headlab/bench/bench.h"
#include "headlab/bench/cost.h"
#include "headlab/bench/profile.h"
#include "headlab/heads/ablation.h"
#include "headlab/heads/attribution.h"
#include "headlab/heads/circuits.h"
#include "headlab/heads/gold_edges.h"
#include "headlab/heads/patching.h"
#include "headlab/prune/prune.h"
#include "report/columns.h"

namespace headlab {
namespace {

template <class Report>
Finding found_by() {
  return finding_of(Report());
}

Finding benchmarks_found() {
  Finding all;
  BenchOptions options = bench_options("toy");
  options.steps = 0;
  for (const Benchmark& benchmark : benchmarks())
    for (Table& table : benchmark.run(options).tables) all.tables.push_back(std::move(table));
  all.tables.push_back(profile_table({}));
  all.tables.push_back(target_table({}));
  all.tables.push_back(model_table({}));
  return all;
}

Finding cost_found() {
  Finding found = cost_finding({}, 1, true);
  for (const Table& table : measure_cost({}, 1, 0).tables) found.tables.push_back(table);
  found.tables.push_back(published_cost());
  return found;
}

constexpr FindingEntry kFindings[] = {
    {"config.json", "every setting of a run: `headlab train --help` says each", "", "", nullptr,
     "task layers heads d_model parent data_hash pruning extended"},
    {"metrics.jsonl", "a line for each evaluation", "", "time", nullptr,
     "step loss accuracy targets train_loss lr gradient_norm seconds tokens_per_s"},
    {"heads.jsonl", "a line for each scoring while a run tracks its heads", "", "time", nullptr,
     "step examples attention best heads"},
    {"state.safetensors", "parameters, moments and counters: all that resuming needs"},
    {"model.safetensors", "the parameters, by name"},
    {"best.safetensors", "those with the lowest held-out loss, where a task reads a file"},
    {"snapshots.safetensors", "the parameters at some steps of training", "", "time"},
    {"heads.json", "what `heads` found", "heads RUN", "heads head compare", found_by<HeadsReport>,
     "distances seed settings"},
    {"ablation.json", "what `ablate` found", "ablate RUN", "heads live causes",
     found_by<AblationReport>},
    {"interactions.json", "what `ablate --pairs` found", "ablate RUN --pairs", "live causes",
     found_by<InteractionReport>},
    {"gold_edges.json", "what `ablate --gold-edges` found", "ablate RUN --gold-edges",
     "live causes", found_by<EdgeReport>},
    {"attribution.json", "what `attribute` found", "attribute RUN", "head causes",
     found_by<AttributionReport>},
    {"circuits.json", "what `circuits` found", "circuits RUN", "head causes",
     found_by<CircuitsReport>},
    {"patching.json", "what `patch` found", "patch RUN", "causes", found_by<PatchReport>},
    {"curve.json", "what `curve` found", "curve RUN", "heads live prune", nullptr,
     "task heads needed full none owners ablation methods subsets settings"},
    {"prune.json", "what `prune` did, and how its run stands now", "", "prune", nullptr,
     "attention kept removed_heads before without_finetuning after method seed examples steps "
     "gate_steps finetune finetuned pruning step weights timing unfinished command"},
    {"michel.json", "what `reproduce michel` found", "reproduce michel RUN", "prune", nullptr,
     "ablation one_head_per_layer curve shares by_step timing settings"},
    {"voita.json", "what `reproduce voita` found", "reproduce voita RUN", "prune", nullptr,
     "heads needed steps full none rows chosen settings"},
    {"grid.json", "the grids of a sweep, and how they are pruned", "", "", nullptr,
     "grids prunings"},
    {"cell.json", "the result of a sweep's cell", "", "", nullptr,
     "loss accuracy parameters keys roles"},
    {"sweep.json", "what came out of a sweep", "", "", nullptr,
     "cells missing failed groups comparisons prunings command"},
    {"measured", "what `bench`, `eval`, `prune` and `train --profile` measured", "", "",
     benchmarks_found},
    {"cost", "what `cost` counted and measured", "", "", cost_found},
};

}  // namespace

std::span<const FindingEntry> finding_table() { return kFindings; }

std::string keys_of(const FindingEntry& entry) {
  std::vector<std::string> keys;
  if (entry.shape != nullptr) {
    const Finding shape = entry.shape();
    const Json json = shape;
    for (const auto& [key, value] : json.members()) {
      const auto table = std::ranges::find(shape.tables, key, &Table::name);
      keys.push_back(key);
      if (table == shape.tables.end()) continue;
      std::vector<std::string> nested;
      for (const Column& column : table->columns)
        for (const std::string& path : column.paths()) nested.push_back(path);
      keys.back() += "(" + join(nested, " ") + ")";
    }
  }
  if (*entry.keys != '\0') keys.emplace_back(entry.keys);
  if (*entry.command != '\0') keys.emplace_back("attention options step weights others command");
  return join(keys, " ");
}

std::vector<Column> all_columns() {
  std::vector<Column> all;
  std::set<std::string> seen;
  for (const FindingEntry& entry : kFindings) {
    if (entry.shape == nullptr) continue;
    for (const Table& table : entry.shape().tables)
      for (const Column& column : table.columns)
        if (!column.meaning.empty() && seen.insert(column.title + ": " + column.meaning).second)
          all.push_back(column);
  }
  for (const ColumnEntry& column : column_table())
    if (seen.insert(text(column.name, ": ", column.meaning)).second)
      all.push_back({"", column.name, column.meaning});
  return all;
}

}  // namespace headlab
