// The table of what is found. What is added here is listed, explained and shown by the page. A row
// with a shape needs no list of keys: its columns have them.
// Read next: src/app/cli/list.cc, src/app/report/page_history.cc.
#include "report/findings.h"

#include <algorithm>
#include <array>
#include <set>

#include "headlab/base/error.h"
#include "headlab/bench/bench.h"
#include "headlab/bench/cost.h"
#include "headlab/bench/profile.h"
#include "headlab/heads/ablation.h"
#include "headlab/heads/analyses.h"
#include "headlab/heads/circuits.h"
#include "headlab/heads/gold_edges.h"
#include "headlab/heads/lessons.h"
#include "headlab/heads/pairs.h"
#include "headlab/heads/tracking.h"
#include "headlab/lab/compare.h"
#include "headlab/lab/reproduce.h"
#include "headlab/lab/sweep.h"
#include "headlab/prune/prune.h"

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
  return all;
}

/// Of one head and one relation, so that keys of both are listed.
Finding heads_found() {
  HeadsReport report{.heads = {HeadScores{}}, .relations = {{.relation = {"RELATION", "", false}}}};
  report.heads[0].values.resize(score_table().size());
  report.heads[0].relations.resize(1);
  report.distances = {0};
  return finding_of(report);
}

Finding lessons_found() {
  const LessonWorld& world = lesson_worlds()[0];
  const ShownHeads shown =
      shown_heads(world.tokens, attend_in_heads(world.q, world.k, world.v, world.heads));
  Finding found{.tables = world_tables(shown, world.W_O)};
  found.tables.push_back(query_tables(shown, 0)[0]);
  return found;
}

Finding cost_found() {
  Finding found = cost_finding({}, 1);
  found.tables.push_back(published_cost());
  return found;
}

template <std::size_t Place>
Finding paper_found() {
  Finding found = papers()[Place].finding({});
  found.tables.push_back(papers()[Place].over_runs({}));
  return found;
}

Finding comparison_found() {
  return compare_arms(std::vector<Arm>{{"a", {0}, {1}}, {"reference", {0}, {1}}});
}

Finding curves_found() { return {.tables = curve_tables({}, {})}; }

const FindingEntry kFindings[] = {
    {"config.json", "every setting of a run: `headlab train --help` says each", "", "", nullptr,
     "task layers heads d_model parent data_hash pruning extended data"},
    {"metrics.jsonl", "a line for each evaluation", "", "story", nullptr,
     "step loss accuracy targets(name loss accuracy count) train_loss lr gradient_norm seconds "
     "tokens_per_s run"},
    {"heads.jsonl", "a line for each scoring while a run tracks its heads", "", "story head",
     nullptr, "step examples attention best heads(layer head entropy lift mass) divisions run"},
    {"state.safetensors", "parameters, moments and counters: all that resuming needs"},
    {"model.safetensors", "the parameters, by name"},
    {"best.safetensors", "those with the lowest held-out loss, where a task reads a file"},
    {"snapshots.safetensors", "the parameters at some steps of training", "", "story"},
    {"heads.json", "what `heads` found", "heads RUN", "story head", heads_found,
     "distances seed settings relations(positional assigned assigned_owns exchanges mass_any_head "
     "best.lift_untrained best.mass_all baselines.best_offset baselines.offset.wrong) "
     "heads(scores.RELATION.mass_all)"},
    {"ablation.json", "what `ablate` found", "ablate RUN", "story bench findings",
     found_by<AblationReport>, "figures(name title)"},
    {"interactions.json", "what `ablate --pairs` found", "ablate RUN --pairs", "story findings",
     found_by<PairsReport>},
    {"gold_edges.json", "what `ablate --gold-edges` found", "ablate RUN --gold-edges",
     "bench findings", found_by<EdgeReport>},
    {"circuits.json", "what `circuits` found", "circuits RUN", "findings",
     found_by<CircuitsReport>},
    {"curve.json", "what `curve` found", "curve RUN", "story bench findings", found_by<Curve>,
     "full(loss accuracy) none(as full) methods(points(kept heads loss accuracy choosing_loss "
     "finetuned from_scratch unpruned precision recall) schedule) subsets(heads examples kind "
     "losses) settings"},
    {"prune.json", "what `prune` did, and how its run stands now", "", "findings",
     found_by<PruneResult>, "timing(as michel.json) unfinished command"},
    {"michel.json", "what `reproduce michel` found", "reproduce michel RUN", "findings",
     paper_found<0>, "ablation(as ablation.json) curve(as curve.json) shares settings"},
    {"voita.json", "what `reproduce voita` found", "reproduce voita RUN", "findings",
     paper_found<1>,
     "heads needed steps schedule full(loss accuracy chosen_on) none(as full) chosen settings"},
    {"grid.json", "the grids of a sweep", "", "", nullptr, "grids(settings)"},
    {"cell.json", "the result of a sweep's cell", "", "", nullptr,
     "loss accuracy targets parameters diversity keys keys_read "
     "roles(relation head lift owned)"},
    {"sweep.json", "what came out of a sweep", "", "", found_by<SweepReport>,
     "groups(task model(settings) losses accuracies diversities relations(heads)) command"},
    {"heads", "what `heads` shows with --over-training", "", "", found_by<HeadsHistory>},
    {"compare", "what `compare` found", "", "", comparison_found},
    {"curves", "what `curve` shows", "", "", curves_found},
    {"lessons", "what `explain` computes", "", "", lessons_found},
    {"measured", "what `bench`, `eval`, `prune` and `train --profile` measured", "", "",
     benchmarks_found},
    {"cost", "what `cost` counted and measured", "", "", cost_found},
};

}  // namespace

const std::vector<FindingEntry>& finding_table() {
  static const std::vector<FindingEntry> all = [] {
    std::vector<FindingEntry> rows(std::begin(kFindings), std::end(kFindings));
    const auto place = std::ranges::find(rows, "curve.json", &FindingEntry::name) - rows.begin();
    for (const Analysis& row : analyses())
      rows.insert(rows.begin() + place,
                  {row.file, text("what `", row.name, "` found: ", row.meaning), row.name + " RUN",
                   "findings", row.shape, "figures(name title)"});
    return rows;
  }();
  return all;
}

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
      if (!table->inner.empty()) nested.push_back(table->inner);
      for (const Column& column : table->columns)
        for (const std::string& path : column.paths()) nested.push_back(path);
      keys.back() += "(" + join(nested, " ") + ")";
    }
  }
  if (!entry.keys.empty()) keys.emplace_back(entry.keys);
  if (!entry.command.empty())
    keys.emplace_back("attention options step weights run others command");
  return join(keys, " ");
}

std::vector<Column> all_columns() {
  std::vector<Column> all;
  std::set<std::string> seen;
  for (const FindingEntry& entry : finding_table()) {
    if (entry.shape == nullptr) continue;
    for (const Table& table : entry.shape().tables)
      for (const Column& column : table.columns)
        if (!column.meaning.empty() && seen.insert(column.title + ": " + column.meaning).second)
          all.push_back(column);
  }
  return all;
}

}  // namespace headlab
