// A sweep on a page: its results, and for each combination of settings the model of the first seed,
// shown side by side. A trial is a run like any other.
// Read next: headlab/lab/studies/sweep.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/report/page_parts.h"
#include "headlab/app/report/figures.h"
#include "headlab/app/report/result_text.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"
#include "headlab/lab/studies/sweep.h"

namespace headlab {
namespace {

constexpr std::size_t kMostModels = 12;   // maximum number of models of a sweep
constexpr std::size_t kMostMapped = 120;  // maximum number of trials with maps of their heads
constexpr Index kMapExamples = 64;        // examples of a mean pattern
constexpr Index kMapCells = 16;           // rows and columns of a map, at most

/// Adds facts of the sweep's report that its trials do not have: the command that makes the sweep,
/// and the controls of a textbook; null if the report has none.
void add_report(const std::filesystem::path& folder, Json& facts) {
  const std::filesystem::path file = folder / "sweep.json";
  const bool there = is_there(file);
  const Json report = there ? read_json(file) : Json();
  for (const char* key : {"command", "controls"}) {
    facts[key] = report.is_object() && report.find(key) ? *report.find(key) : Json();
  }
}

/// Adds the mean patterns of the heads of a trial.
void add_maps(const Run& run, PageTrial& trial) {
  trial.attention_layers = mean_patterns(run, kMapExamples, kMapCells);
  for (const AttentionLayer& attention_layer : run.model.attention_layers()) {
    trial.heads.push_back(attention_layer.attention->heads);
  }
}

/// Returns the maps of a trial: for each attention layer its heads and a block of their patterns;
/// null if there are none.
Json maps_of(const PageTrial& trial, PageBlocks& blocks) {
  if (trial.attention_layers.empty()) return {};
  Json maps = Json::array();
  for (std::size_t m = 0; m < trial.attention_layers.size(); ++m) {
    const AttentionMaps& attention_layer = trial.attention_layers[m];
    maps.push_back(Json::object(
        {{"heads", trial.heads[m]},
         {"block",
          blocks.shares("trials",
                        {attention_layer.heads, attention_layer.rows, attention_layer.columns},
                        attention_layer.mean_pattern)}}));
  }
  return maps;
}

/// Returns the loss of a family against its numbers of heads; null if it has only one.
Json figure_of(const SweepReport& report, const std::vector<std::size_t>& groups) {
  SweepReport part;
  for (const std::size_t group : groups) part.groups.push_back(report.groups[group]);
  const bool is_whole = groups.size() == report.groups.size();
  const SweepReport& drawn = is_whole ? report : part;
  return differs_in_heads(drawn) ? sweep_figure(drawn).data : Json();
}

}  // namespace

Json families_facts(const SweepReport& report) {
  Json facts = Json::array();
  for (const SweepFamily& family : families_of(report)) {
    Json one = Json(family);
    one["figure"] = figure_of(report, family.groups);
    facts.push_back(std::move(one));
  }
  return facts;
}

bool is_sweep(const std::filesystem::path& folder) {
  return is_there(folder / "grid.json") && !is_there(folder / "config.json");
}

PageSweep read_sweep(const std::filesystem::path& folder, bool maps) {
  const std::vector<SweepTrial> trials = kept_trials(folder);
  PageSweep sweep;
  const SweepReport report = collect_sweep(folder, trials);
  sweep.facts = result_of(report);
  sweep.facts["families"] = families_facts(report);
  add_report(folder, sweep.facts);
  std::vector<std::string> groups;
  for (const SweepTrial& kept : trials) {
    if (trial_state(folder, kept) != TrialState::finished) continue;
    PageTrial& trial = sweep.trials.emplace_back();
    trial.name = kept.name;
    trial.group = kept.group;
    trial.seed = kept.config.train.seed;
    trial.result = read_trial(folder / kept.name);
    if (maps && sweep.trials.size() <= kMostMapped) add_maps(open_run(folder / kept.name), trial);
    const bool known = std::ranges::find(groups, kept.group) != groups.end();
    if (known || groups.size() >= kMostModels) continue;
    trial.run = groups.size();
    groups.push_back(kept.group);
    sweep.runs.push_back(folder / kept.name);
  }
  if (sweep.runs.empty()) {
    throw Error(text("cannot show the sweep in ", folder.string(),
                     ": none of its trials is finished"),
                "finish it: repeat its `headlab sweep` command");
  }
  return sweep;
}

std::size_t opening_run(const PageSweep& sweep) {
  const Index opening = sweep.facts.at("families").items()[0].at("opening").integer();
  const std::string& name = sweep.facts.at("groups").items()[opening].at("name").string();
  for (const PageTrial& trial : sweep.trials) {
    if (trial.group == name && trial.run) return *trial.run;
  }
  return 0;
}

/// Returns the conclusion on a family, and the number of heads that is used.
static std::string conclusion_text(const Json& comparison, bool several) {
  const Json& enough = comparison.at("enough");
  return text(several ? comparison.at("family").string() + ": " : "",
              comparison.at("verdict").string(), " ", comparison.at("reason").string(),
              enough.is_null() ? " Used: not decided. " : text(" Used: ", enough.string(), ". "));
}

std::string static_html(const PageSweep& sweep) {
  const Result result = result_of(sweep.facts);
  std::string said;
  if (const Json* comparisons = sweep.facts.find("comparisons")) {
    const bool several = comparisons->items().size() > 1;
    for (const Json& one : comparisons->items()) said += conclusion_text(one, several);
  }
  if (const Json* settings = sweep.facts.find("settings")) {
    for (const Json& one : settings->items()) {
      said += text(one.at("verdict").string(), " ", one.at("reason").string(), " ");
    }
  }
  std::string html;
  if (!said.empty()) html = "<p id=\"sweep-conclusion\">" + html_text(said) + "</p>\n";
  const auto groups = std::ranges::find(result.tables, "groups", &Table::name);
  if (groups == result.tables.end()) return html;
  Table shown = *groups;
  shown.title = "Means over seeds";
  return html + "<div id=\"sweep-table\">" + html_of(shown) + "</div>\n";
}

Json sweep_facts(const PageSweep& sweep, const PagePlan& plan, PageBlocks& blocks) {
  Json facts = sweep.facts;
  Json& trials = facts["trials"] = Json::array();
  for (const PageTrial& trial : sweep.trials) {
    trials.push_back(Json::object({{"name", trial.name},
                                   {"group", trial.group},
                                   {"seed", trial.seed},
                                   {"loss", trial.result.loss},
                                   {"accuracy", trial.result.accuracy},
                                   {"run", trial.run},
                                   {"roles", trial.result.roles},
                                   {"maps", plan.trials ? maps_of(trial, blocks) : Json()}}));
  }
  return facts;
}

}  // namespace headlab
