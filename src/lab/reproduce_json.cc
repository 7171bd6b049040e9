// Reports of the two papers' experiments as JSON and back, so that an interrupted one goes on, and
// over several runs as one.
// Read next: report/prune_text.cc.
#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/lab/reproduce.h"
#include "lab/kept.h"

namespace headlab {
namespace {

RoleDrift drift_of(const Json& json) {
  const auto lift = [&](const char* key) {
    return json.at(key).is_null() ? kUndefined : json.at(key).number();
  };
  return {json.at("relation").string(), head_of(json.at("before")), head_of(json.at("after")),
          lift("lift_before"), lift("lift_after")};
}

double median_of(std::vector<Index> counts) {
  std::ranges::sort(counts);
  const std::size_t half = counts.size() / 2;
  const auto upper = static_cast<double>(counts[half]);
  return counts.size() % 2 == 1 ? upper : (upper + static_cast<double>(counts[half - 1])) / 2;
}

}  // namespace

Settings settings_of(VoitaOptions& options) {
  Settings s;
  s.add(settings_of(options.settings));
  s.integer("finetune", options.finetune, 0, 1 << 30,
            "steps of training after the closed gates are gone");
  return s;
}

PenaltyRow penalty_row_of(const Json& json) {
  PenaltyRow row{.penalty = json.at("lambda").number()};
  row.survivors = heads_of(json.at("survivors"));
  row.by_kind = {json.at("self").integer(), json.at("encoder").integer(),
                 json.at("cross").integer()};
  row.pruned = judged_of(json.at("pruned"));
  if (const Json* finetuned = json.find("finetuned")) row.finetuned = judged_of(*finetuned);
  for (const Json& role : json.at("drift").items()) row.drift.push_back(drift_of(role));
  return row;
}

Json to_json(const OneHeadLeft& row) {
  return Json::object({{"module", row.module},
                       {"in_sample", row.in_sample},
                       {"change_in_sample", row.change_in_sample},
                       {"out_of_sample", row.out_of_sample},
                       {"change_out_of_sample", row.change_out_of_sample}});
}

Json to_json(const PrunedAtStep& stage) {
  return Json::object({{"step", stage.step}, {"by_share", stage.by_share}});
}

Json to_json(const MichelReport& report) {
  return stamped(
      {{"ablation", finding_of(report.ablation)},
       {"one_head_per_layer", report.one_head},
       {"curve", report.curve},
       {"shares", report.shares},
       {"by_step", report.by_step},
       {"timing", to_json(Finding{.tables = {timing_table(report.timing)}}).at("timing")}});
}

std::vector<PrunedAtStep> pruned_steps_of(const Json& json, std::span<const double> shares) {
  std::vector<PrunedAtStep> stages;
  for (const Json& stage : json.at("by_step").items()) {
    stages.push_back({stage.at("step").integer(), {}});
    for (const Json& judged : stage.at("by_share").items())
      stages.back().by_share.push_back(judged_of(judged));
    require(stages.back().by_share.size() == shares.size(),
            "what was kept of the training with prunings is damaged: make it anew");
  }
  return stages;
}

Json to_json(const RoleDrift& role) {
  return Json::object({{"relation", role.relation},
                       {"before", role.before},
                       {"after", role.after},
                       {"lift_before", role.lift_before},
                       {"lift_after", role.lift_after}});
}

Json to_json(const PenaltyRow& row) {
  Json json = Json::object({{"lambda", row.penalty},
                            {"survivors", row.survivors},
                            {"self", row.by_kind[0]},
                            {"encoder", row.by_kind[1]},
                            {"cross", row.by_kind[2]},
                            {"pruned", row.pruned}});
  if (row.finetuned) json["finetuned"] = *row.finetuned;
  json["from_scratch"] = row.from_scratch;
  json["drift"] = row.drift;
  return json;
}

Json to_json(const VoitaReport& report) {
  return stamped({{"attention", report.attention},
                  {"heads", report.heads},
                  {"needed", report.needed > 0 ? Json(report.needed) : Json()},
                  {"steps", report.steps},
                  {"full", report.full},
                  {"none", report.none},
                  {"rows", report.rows},
                  {"chosen", report.chosen}});
}

// ---- over several runs

static PenaltyOverRuns penalty_over(std::span<const VoitaReport> reports, std::size_t i) {
  PenaltyOverRuns row{.penalty = reports[0].rows[i].penalty};
  std::vector<double> pruned, finetuned, scratch, differences;
  for (const VoitaReport& report : reports) {
    require(report.rows.size() == reports[0].rows.size() && report.rows[i].penalty == row.penalty,
            "reports of different penalties cannot be averaged");
    const PenaltyRow& one = report.rows[i];
    row.survivors.push_back(std::ssize(one.survivors));
    pruned.push_back(one.pruned.loss);
    if (one.finetuned) finetuned.push_back(one.finetuned->loss);
    scratch.push_back(one.from_scratch.loss);
    differences.push_back(one.finetuned.value_or(one.pruned).loss - scratch.back());
  }
  row.median = median_of(row.survivors);
  row.pruned = t_interval(pruned);
  if (!finetuned.empty()) row.finetuned = t_interval(finetuned);
  row.from_scratch = t_interval(scratch);
  row.against_scratch = {t_interval(differences),
                         mean(differences) / standard_deviation(differences)};
  return row;
}

std::vector<PenaltyOverRuns> penalties_over_runs(std::span<const VoitaReport> reports) {
  require(!reports.empty(), "there is no report to average");
  std::vector<PenaltyOverRuns> rows;
  for (std::size_t i = 0; i < reports[0].rows.size(); ++i) rows.push_back(penalty_over(reports, i));
  return rows;
}

Json to_json(const PenaltyOverRuns& row) {
  Json json = Json::object({{"lambda", row.penalty},
                            {"survivors", row.survivors},
                            {"median", row.median},
                            {"pruned", row.pruned}});
  if (row.finetuned) json["finetuned"] = *row.finetuned;
  json["from_scratch"] = row.from_scratch;
  json["against_scratch"] = row.against_scratch;
  return json;
}

std::vector<ShareOverRuns> shares_over_runs(std::span<const std::vector<PrunedAtStep>> runs) {
  require(!runs.empty(), "there is no report to average");
  std::vector<ShareOverRuns> rows;
  if (runs[0].empty()) return rows;
  const std::vector<double> shares = MichelReport().shares;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    std::vector<double> losses, accuracies;
    for (const std::vector<PrunedAtStep>& stages : runs) {
      require(!stages.empty() && stages.back().by_share.size() == shares.size(),
              "reports of different shares cannot be averaged");
      losses.push_back(stages.back().by_share[i].loss);
      accuracies.push_back(stages.back().by_share[i].accuracy);
    }
    rows.push_back({shares[i], t_interval(losses), t_interval(accuracies)});
  }
  return rows;
}

Json to_json(const ShareOverRuns& row) {
  return Json::object({{"share", row.share}, {"loss", row.loss}, {"accuracy", row.accuracy}});
}

}  // namespace headlab
