// The table of all results. Lists, `explain` and the page are made from it, so a new row appears in
// all of them. The shape of a result is the only declaration of its tables, columns and keys.
// Read next: src/app/cli/list.cc, src/app/report/page_history.cc.
#include "app/report/results.h"

#include <algorithm>

#include "app/report/page_parts.h"
#include "headlab/core/tasks/table.h"
#include "headlab/lab/bench/bench.h"
#include "headlab/lab/bench/cost.h"
#include "headlab/lab/bench/profile.h"
#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/heads/causes/analyses.h"
#include "headlab/lab/heads/causes/file_prompts.h"
#include "headlab/lab/heads/causes/node_patching.h"
#include "headlab/lab/heads/causes/pairs.h"
#include "headlab/lab/heads/causes/patching.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/lessons/lessons.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "headlab/lab/heads/weights/circuits.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/prune/prune.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/runs/single_targets.h"
#include "headlab/lab/studies/compare.h"
#include "headlab/lab/studies/sweep.h"

namespace headlab {
namespace {

template <class Report>
Result shape_of() {
  return result_of(Report());
}

Result bench_shape() {
  BenchOptions options = bench_options("toy");
  options.steps = 0;
  options.threads = {1, 2};  // one row would belong to the result itself
  return {.tables = bench_step(options).tables};
}

Result profile_shape() { return {.tables = {profile_table({})}}; }

Result eval_shape() {
  const std::unique_ptr<Task> task = make_task("relations");
  Result shape{.tables = {target_table({})}};
  shape.tables.push_back(grouped_table(*task, {}, TargetGroups::position));
  shape.tables.push_back(grouped_table(*task, {}, TargetGroups::answer));
  shape.tables.push_back(single_target_table(*task, {}));
  shape.tables.push_back(against_table({}, false));
  shape.tables.push_back(single_against_table({}, false));
  return shape;
}

/// Returns a report with one head and one relation, so that the keys of both are listed.
Result heads_shape() {
  HeadsReport report{.heads = {HeadScores{}}, .relations = {{.relation = {"RELATION", "", false}}}};
  report.heads[0].values.resize(score_table().size());
  report.heads[0].relations.resize(1);
  report.distances = {0};
  Division& division = report.divisions.emplace_back();
  division.heads = {0, 0};
  division.kinds.emplace_back().name = "KIND";
  division.classes.emplace_back().mass = {0, 0};
  return result_of(report);
}

Result explain_shape() {
  const WorkedExample& worked = worked_examples()[0];
  const ShownHeads shown =
      shown_heads(worked.tokens, attend_in_heads(worked.q, worked.k, worked.v, worked.heads));
  Result shape{.tables = worked_example_tables(shown, worked.W_O)};
  shape.tables.push_back(query_tables(shown, 0)[0]);
  shape.tables.push_back(corrections_table());
  return shape;
}

Result cost_shape() { return cost_result({}, 1); }

Result prune_shape() {
  PruneResult result;
  result.gates = {1};
  result.kept = {HeadId{}};
  result.timing = timing_table({});
  return result_of(result);
}

Result compare_shape() {
  return compare_arms(std::vector<Arm>{{"a", {0}, {1}}, {"reference", {0}, {1}}});
}

Result patch_shape() {
  Result shape = result_of(PatchReport());
  for (Table& table : node_tables({})) shape.tables.push_back(std::move(table));
  shape.tables.push_back(patched_pairs_table({}));
  return shape;
}

Result truth_edges_shape() {
  Result shape = result_of(EdgeReport());
  shape.tables.push_back(edges_against_table({}));
  shape.tables.push_back(single_edges_against({}));
  return shape;
}

/// Returns a curve with one method of one point, so that all of their keys are listed.
Result curve_shape() {
  Curve curve;
  CurvePoint& point = curve.methods.emplace_back().points.emplace_back();
  for (std::optional<Judged>* judged : {&point.finetuned, &point.from_scratch, &point.unpruned}) {
    judged->emplace();
  }
  curve.subsets.emplace();
  return result_of(curve);
}

Result curves_shape() { return {.tables = curve_tables({}, {})}; }

/// Returns a sweep whose groups have the keys of one group; `model` has the settings of a run.
Result sweep_shape() {
  Result shape = result_of(SweepReport());
  SweepGroup group;
  group.roles.emplace_back();
  Json keys = to_json(group);
  keys["model"] = Json::object({{"settings", Json()}});
  shape.about["groups"] = Json::Array{std::move(keys)};
  shape.about["families"] = Json::Array{to_json(SweepFamily())};
  return shape;
}

Result trial_shape() {
  TrialResult trial;
  trial.roles.emplace_back();
  return {.about = stamped(to_json(trial).members())};
}

const std::vector<ResultEntry> kResults = {
    {.file = "config.json",
     .meaning = "all settings of a run (`headlab train --help` explains them)",
     .keys = {{"task"},
              {"layers"},
              {"heads"},
              {"d_model"},
              {"parent"},
              {"data_hash"},
              {"pruning"},
              {"extended", {{"from"}, {"to"}, {"is_planned"}}},
              {"data"}}},
    {.file = "metrics.jsonl",
     .meaning = "a line for each evaluation",
     .views = {"results"},
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
    {.file = "heads.jsonl",
     .meaning = "a line for each scoring while a run tracks its heads",
     .views = {"first", "head"},
     .keys = {{"step"},
              {"examples"},
              {"attention"},
              {"best"},
              {"queries"},
              {"heads", {{"layer"}, {"head"}, {"entropy"}, {"lift"}, {"mass"}}},
              {"divisions"},
              {"run"}}},
    {.file = "state.safetensors",
     .meaning = "parameters, moments and counters: all that resuming needs"},
    {.file = "model.safetensors", .meaning = "the parameters, by name"},
    {.file = "best.safetensors",
     .meaning = "the parameters with the lowest held-out loss (RUN@best)"},
    {.file = "snapshots.safetensors",
     .meaning = "the parameters at some steps of training",
     .views = {"first"}},
    {.file = "heads.json",
     .command = "heads",
     .meaning = "results of `heads`",
     .shape = heads_shape,
     .views = {"first", "head"},
     .keys = {{"seed"}, {"settings"}},
     .describes_run = true},
    {.file = "ablation.json",
     .command = "ablate",
     .meaning = "results of `ablate`",
     .shape = shape_of<AblationReport>,
     .views = {"first", "bench", "results"},
     .describes_run = true},
    {.command = "ablate",
     .flags = "--head LAYER.HEAD",
     .meaning = "heads ablated together",
     .shape = shape_of<SetAblationReport>},
    {.file = "interactions.json",
     .command = "ablate",
     .flags = "--pairs",
     .meaning = "results of `ablate --pairs`",
     .shape = shape_of<PairsReport>,
     .views = {"first", "results"},
     .describes_run = true},
    {.file = "truth_edges.json",
     .command = "ablate",
     .flags = "--truth-edges",
     .meaning = "results of `ablate --truth-edges`: masked ground-truth edges",
     .shape = truth_edges_shape,
     .views = {"bench", "results"},
     .describes_run = true},
    {.file = "circuits.json",
     .command = "circuits",
     .meaning = "results of `circuits`",
     .shape = shape_of<CircuitsReport>,
     .views = {"results"},
     .describes_run = true},
    {.file = "patching.json",
     .command = "patch",
     .meaning = "results of `patch`",
     .shape = patch_shape,
     .views = {"results"},
     .describes_run = true},
    {.file = "curve.json",
     .command = "curve",
     .meaning = "results of `curve`",
     .shape = curve_shape,
     .views = {"first", "bench", "results"},
     .keys = {{"settings"}},
     .describes_run = true},
    {.file = "prune.json",
     .command = "prune",
     .meaning = "heads removed by `prune`, and the models before and after",
     .shape = prune_shape,
     .views = {"results"},
     .keys = {{"unfinished"}, {"command"}}},
    {.file = "grid.json", .meaning = "the grids of a sweep", .keys = {{"grids", {{"settings"}}}}},
    {.file = "cell.json", .meaning = "the result of one trial of a sweep", .shape = trial_shape},
    {.file = "sweep.json",
     .command = "sweep",
     .meaning = "the results of a sweep",
     .shape = sweep_shape,
     .keys = {{"command"}}},
    {.command = "history", .meaning = "results of `history`", .shape = shape_of<HeadsHistory>},
    {.command = "compare", .meaning = "results of `compare`", .shape = compare_shape},
    {.command = "curve", .meaning = "results of `curve` over several runs", .shape = curves_shape},
    {.command = "explain", .meaning = "results of `explain`", .shape = explain_shape},
    {.command = "bench", .meaning = "measurements of `bench`", .shape = bench_shape},
    {.meaning = "measurements of `train --profile`", .shape = profile_shape},
    {.command = "eval", .meaning = "losses of `eval`", .shape = eval_shape},
    {.command = "cost", .meaning = "counts of `cost`", .shape = cost_shape},
    {.command = "page", .meaning = "parts of a page", .shape = shape_of<Page>},
};

/// Keys that every file in the folder of a run has if a command wrote it.
const std::vector<JsonKey> kKeysOfRuns = {{"attention"}, {"options"}, {"step"},   {"weights"},
                                          {"run"},       {"others"},  {"command"}};

/// Returns the rows of the table above, with the analyses that need only examples inserted before
/// those of pruning.
std::vector<ResultEntry> with_analyses() {
  std::vector<ResultEntry> rows = kResults;
  const auto place = std::ranges::find(rows, "curve.json", &ResultEntry::file) - rows.begin();
  for (const Analysis& analysis : analyses()) {
    const std::string meaning = text("results of `", analysis.name, "`: ", analysis.meaning);
    rows.insert(rows.begin() + place, {.file = analysis.file,
                                       .command = analysis.name,
                                       .meaning = meaning,
                                       .shape = analysis.shape,
                                       .views = {"results"},
                                       .describes_run = true});
    if (analysis.single_shape != nullptr) {
      rows.push_back({.command = analysis.name,
                      .meaning = text("single examples of `", analysis.name, "`"),
                      .shape = analysis.single_shape});
    }
  }
  return rows;
}

/// Returns the keys of an object, or of the first object of an array.
std::vector<JsonKey> keys_in(const Json& json) {
  if (json.is_array()) {
    return json.items().empty() ? std::vector<JsonKey>() : keys_in(json.items()[0]);
  }
  std::vector<JsonKey> keys;
  if (json.is_object()) {
    for (const auto& [key, value] : json.members()) keys.push_back({key, keys_in(value)});
  }
  return keys;
}

std::vector<JsonKey> columns_of(const Table& table) {
  std::vector<JsonKey> keys;
  if (!table.inner.empty()) keys.push_back({table.inner});
  for (const Column& column : table.columns) {
    for (const std::string& path : column.paths) keys.push_back({path});
  }
  return keys;
}

/// Returns the keys of a result; those of rows are nested in the key of their table.
std::vector<JsonKey> keys_of(const Result& shape) {
  const Json json = shape.tables.empty() ? shape.about : to_json(shape);
  std::vector<JsonKey> keys;
  for (const auto& [key, value] : json.members()) {
    const auto table = std::ranges::find(shape.tables, key, &Table::name);
    const bool has_columns = table != shape.tables.end() && !table->rows_in_about;
    const bool is_description = key == "tables";
    if (has_columns) {
      keys.push_back({key, columns_of(*table)});
    } else {
      keys.push_back({key, is_description ? std::vector<JsonKey>() : keys_in(value)});
    }
  }
  return keys;
}

std::string keys_text(const std::vector<JsonKey>& keys) {
  return join(texts_of(keys, &JsonKey::text), " ");
}

}  // namespace

std::string JsonKey::text() const {
  return nested.empty() ? name : name + "(" + keys_text(nested) + ")";
}

std::string ResultEntry::name() const {
  const std::string from = command.empty() ? "train" : command;
  return file.empty() ? from : file.substr(0, file.find('.'));
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
  if (entry.describes_run) {
    keys.insert(keys.end(), kKeysOfRuns.begin(), kKeysOfRuns.end());
  }
  const bool names_stamp = std::ranges::count(keys, "headlab", &JsonKey::name) > 0;
  if (!keys.empty() && !names_stamp) keys.insert(keys.begin(), {"headlab"});
  return keys_text(keys);
}

std::vector<std::string> tables_of(std::string_view command) {
  std::vector<std::string> names;
  for (const ResultEntry& entry : result_table()) {
    if (entry.command != command || entry.shape == nullptr) {
      continue;
    }
    for (const Table& table : entry.shape().tables) {
      const bool is_new = std::ranges::count(names, table.name) == 0;
      if (is_new && !table.name.empty()) names.push_back(table.name);
    }
  }
  return names;
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
    } else if (std::ranges::count(same->results, result) == 0) {
      same->results.push_back(result);
    }
  };
  for (const ResultEntry& entry : result_table()) {
    if (entry.shape == nullptr) {
      continue;
    }
    const Result shape = entry.shape();
    const std::string result = entry.name();
    for (const Table& table : shape.tables) {
      for (const Column& column : table.columns) add(column, result);
    }
  }
  return all;
}

}  // namespace headlab
