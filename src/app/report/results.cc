// The table of all results. Lists, `explain` and the page are made from it, so a new row appears in
// all of them. A row with a shape needs no list of keys: its columns have them.
// Read next: src/app/cli/list.cc, src/app/report/page_history.cc.
#include "app/report/results.h"

#include <algorithm>
#include <array>

#include "headlab/core/base/error.h"
#include "headlab/lab/bench/bench.h"
#include "headlab/lab/bench/cost.h"
#include "headlab/lab/bench/profile.h"
#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/heads/causes/analyses.h"
#include "headlab/lab/heads/causes/node_patching.h"
#include "headlab/lab/heads/causes/pairs.h"
#include "headlab/lab/heads/causes/patching.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/lessons/lessons.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "headlab/lab/heads/weights/circuits.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/prune/prune.h"
#include "headlab/lab/studies/compare.h"
#include "headlab/lab/studies/sweep.h"

namespace headlab {
namespace {

template <class Report>
Result found_by() {
  return result_of(Report());
}

Result benchmarks_found() {
  Result all;
  BenchOptions options = bench_options("toy");
  options.steps = 0;
  for (Table& table : bench_step(options).tables) all.tables.push_back(std::move(table));
  all.tables.push_back(profile_table({}));
  all.tables.push_back(target_table({}));
  return all;
}

/// Returns a report with one head and one relation, so that the keys of both are listed.
Result heads_found() {
  HeadsReport report{.heads = {HeadScores{}}, .relations = {{.relation = {"RELATION", "", false}}}};
  report.heads[0].values.resize(score_table().size());
  report.heads[0].relations.resize(1);
  report.distances = {0};
  return result_of(report);
}

Result lessons_found() {
  const WorkedExample& worked = worked_examples()[0];
  const ShownHeads shown =
      shown_heads(worked.tokens, attend_in_heads(worked.q, worked.k, worked.v, worked.heads));
  Result found{.tables = worked_example_tables(shown, worked.W_O)};
  found.tables.push_back(query_tables(shown, 0)[0]);
  return found;
}

Result cost_found() { return cost_result({}, 1); }

Result prune_found() {
  PruneResult result;
  result.timing = timing_table({});
  return result_of(result);
}

Result comparison_found() {
  return compare_arms(std::vector<Arm>{{"a", {0}, {1}}, {"reference", {0}, {1}}});
}

Result patching_found() {
  Result found = result_of(PatchReport());
  for (Table& table : node_tables({})) found.tables.push_back(std::move(table));
  return found;
}

Result curves_found() { return {.tables = curve_tables({}, {})}; }

const std::vector<ResultEntry> kResults = {
    {.name = "config.json",
     .meaning = "all settings of a run (`headlab train --help` explains them)",
     .keys = {{"task"},
              {"layers"},
              {"heads"},
              {"d_model"},
              {"parent"},
              {"data_hash"},
              {"pruning"},
              {"extended"},
              {"data"}}},
    {.name = "metrics.jsonl",
     .meaning = "a line for each evaluation",
     .views = {"story"},
     .keys = {{"step"},
              {"loss"},
              {"accuracy"},
              {"targets", {{"name"}, {"loss"}, {"accuracy"}, {"count"}}},
              {"train_loss"},
              {"train_accuracy"},
              {"weight_norm"},
              {"ended"},
              {"lr"},
              {"gradient_norm"},
              {"seconds"},
              {"tokens_per_s"},
              {"run"}}},
    {.name = "heads.jsonl",
     .meaning = "a line for each scoring while a run tracks its heads",
     .views = {"story", "head"},
     .keys = {{"step"},
              {"examples"},
              {"attention"},
              {"best"},
              {"queries"},
              {"heads", {{"layer"}, {"head"}, {"entropy"}, {"lift"}, {"mass"}}},
              {"divisions"},
              {"run"}}},
    {.name = "state.safetensors",
     .meaning = "parameters, moments and counters: all that resuming needs"},
    {.name = "model.safetensors", .meaning = "the parameters, by name"},
    {.name = "best.safetensors",
     .meaning = "the parameters with the lowest held-out loss (RUN@best)"},
    {.name = "snapshots.safetensors",
     .meaning = "the parameters at some steps of training",
     .views = {"story"}},
    {.name = "heads.json",
     .meaning = "results of `heads`",
     .command = "heads RUN",
     .views = {"story", "head"},
     .shape = heads_found,
     .keys = {{"distances"},
              {"seed"},
              {"settings"},
              {"relations",
               {{"positional"},
                {"assigned"},
                {"assigned_owns"},
                {"exchanges"},
                {"mass_any_head"},
                {"best.lift_untrained"},
                {"best.mass_all"},
                {"baselines.best_offset"},
                {"baselines.offset.wrong"}}},
              {"heads", {{"scores.RELATION.mass_all"}}}}},
    {.name = "ablation.json",
     .meaning = "results of `ablate`",
     .command = "ablate RUN",
     .views = {"story", "bench", "results"},
     .shape = found_by<AblationReport>,
     .keys = {{"figures", {{"name"}, {"title"}}}}},
    {.name = "interactions.json",
     .meaning = "results of `ablate --pairs`",
     .command = "ablate RUN --pairs",
     .views = {"story", "results"},
     .shape = found_by<PairsReport>},
    {.name = "truth_edges.json",
     .meaning = "results of `ablate --truth-edges`: masked ground-truth edges",
     .command = "ablate RUN --truth-edges",
     .views = {"bench", "results"},
     .shape = found_by<EdgeReport>},
    {.name = "circuits.json",
     .meaning = "results of `circuits`",
     .command = "circuits RUN",
     .views = {"results"},
     .shape = found_by<CircuitsReport>},
    {.name = "patching.json",
     .meaning = "results of `patch`",
     .command = "patch RUN",
     .views = {"results"},
     .shape = patching_found,
     .keys = {{"figures", {{"name"}, {"title"}}}}},
    {.name = "curve.json",
     .meaning = "results of `curve`",
     .command = "curve RUN",
     .views = {"story", "bench", "results"},
     .shape = found_by<Curve>,
     .keys = {{"full", {{"loss"}, {"accuracy"}}},
              {"none", {}, "full"},
              {"methods",
               {{"points",
                 {{"kept"},
                  {"heads"},
                  {"loss"},
                  {"accuracy"},
                  {"choosing_loss"},
                  {"finetuned"},
                  {"from_scratch"},
                  {"unpruned"},
                  {"precision"},
                  {"recall"}}},
                {"schedule"}}},
              {"subsets", {{"heads"}, {"examples"}, {"kind"}, {"losses"}}},
              {"settings"}}},
    {.name = "prune.json",
     .meaning = "heads removed by `prune`, and the models before and after",
     .views = {"results"},
     .shape = prune_found,
     .keys = {{"unfinished"}, {"command"}}},
    {.name = "grid.json", .meaning = "the grids of a sweep", .keys = {{"grids", {{"settings"}}}}},
    {.name = "cell.json",
     .meaning = "the result of one trial of a sweep",
     .keys = {{"loss"},
              {"accuracy"},
              {"targets"},
              {"parameters"},
              {"diversity"},
              {"keys"},
              {"keys_read"},
              {"roles", {{"relation"}, {"head"}, {"lift"}, {"owned"}}}}},
    {.name = "sweep.json",
     .meaning = "the results of a sweep",
     .shape = found_by<SweepReport>,
     .keys = {{"groups",
               {{"task"},
                {"model", {{"settings"}}},
                {"losses"},
                {"accuracies"},
                {"diversities"},
                {"relations", {{"heads"}}}}},
              {"command"}}},
    {.name = "history", .meaning = "results of `history`", .shape = found_by<HeadsHistory>},
    {.name = "compare", .meaning = "results of `compare`", .shape = comparison_found},
    {.name = "curves", .meaning = "results of `curve`", .shape = curves_found},
    {.name = "lessons", .meaning = "results of `explain`", .shape = lessons_found},
    {.name = "measured",
     .meaning = "measurements of `bench`, `eval`, `prune` and `train --profile`",
     .shape = benchmarks_found},
    {.name = "cost", .meaning = "counts and measurements of `cost`", .shape = cost_found},
};

/// Keys that every file in the folder of a run has if a command wrote it.
const std::vector<JsonKey> kKeysOfRuns = {{"attention"}, {"options"}, {"step"},   {"weights"},
                                          {"run"},       {"others"},  {"command"}};

/// Returns the rows of the table above, with the analyses that need only examples inserted before
/// those of pruning.
std::vector<ResultEntry> with_analyses() {
  std::vector<ResultEntry> rows = kResults;
  const auto first = std::ranges::find(rows, "curve.json", &ResultEntry::name);
  const auto place = first - rows.begin();
  for (const Analysis& analysis : analyses()) {
    rows.insert(rows.begin() + place,
                {.name = analysis.file,
                 .meaning = text("results of `", analysis.name, "`: ", analysis.meaning),
                 .command = analysis.name + " RUN",
                 .views = {"results"},
                 .shape = analysis.shape,
                 .keys = {{"figures", {{"name"}, {"title"}}}}});
  }
  return rows;
}

/// Returns the keys of a result; those of rows are nested in the key of their table.
std::vector<JsonKey> keys_of(const Result& shape) {
  std::vector<JsonKey> keys;
  const Json json = shape;
  for (const auto& [key, value] : json.members()) {
    JsonKey& one = keys.emplace_back(JsonKey{key});
    const auto table = std::ranges::find(shape.tables, key, &Table::name);
    if (table == shape.tables.end()) {
      continue;
    }
    if (!table->inner.empty()) {
      one.nested.push_back({table->inner});
    }
    for (const Column& column : table->columns) {
      for (const std::string& path : column.paths) {
        one.nested.push_back({path});
      }
    }
  }
  return keys;
}

std::string keys_text(const std::vector<JsonKey>& keys) {
  return join(texts_of(keys, &JsonKey::text), " ");
}

}  // namespace

std::string JsonKey::text() const {
  if (!same_as.empty()) {
    return name + "(as " + same_as + ")";
  }
  return nested.empty() ? name : name + "(" + keys_text(nested) + ")";
}

const std::vector<ResultEntry>& result_table() {
  static const std::vector<ResultEntry> all = with_analyses();
  return all;
}

std::string keys_of(const ResultEntry& entry) {
  std::vector<JsonKey> keys;
  if (entry.shape != nullptr) {
    keys = keys_of(entry.shape());
  }
  keys.insert(keys.end(), entry.keys.begin(), entry.keys.end());
  if (!entry.command.empty()) {
    keys.insert(keys.end(), kKeysOfRuns.begin(), kKeysOfRuns.end());
  }
  return keys_text(keys);
}

std::vector<ListedColumn> all_columns() {
  std::vector<ListedColumn> all;
  const auto add = [&](const Column& column, const std::string& result) {
    if (column.meaning.empty()) return;
    const auto same = std::ranges::find_if(all, [&](const ListedColumn& listed) {
      return listed.column.title == column.title && listed.column.meaning == column.meaning;
    });
    if (same == all.end()) {
      all.push_back({column, {result}});
    } else if (same->results.back() != result) {
      same->results.push_back(result);
    }
  };
  for (const ResultEntry& entry : result_table()) {
    if (entry.shape == nullptr) {
      continue;
    }
    const Result shape = entry.shape();
    const std::string result = entry.name.substr(0, entry.name.find('.'));
    for (const Table& table : shape.tables) {
      for (const Column& column : table.columns) add(column, result);
    }
  }
  return all;
}

}  // namespace headlab
