// Results of other commands in the folder of a run: reports unchanged, the log of heads converted
// from lines to columns, and the pictures that the program draws of them. A file that exists but
// cannot be read is an Error, not a gap. Read next: page_conclusion.cc.
#include <algorithm>
#include <cmath>

#include "app/report/page_parts.h"
#include "app/report/results.h"
#include "headlab/app/report/figures.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "headlab/lab/results/members.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/table.h"

namespace headlab {
namespace {

/// Returns the training step of a result; -1 if it is not recorded.
Index step_of(const Json& result) {
  const Json* step = result.find("step");
  return step != nullptr && step->is_number() ? step->integer() : -1;
}

/// Returns whether a result describes other weights than those of the run.
bool is_outdated(const Run& run, const Json& result) {
  const Json* weights = result.find("weights");
  return weights != nullptr && *weights != Json(weights_hash(run.model));
}

/// Error unless the result has this schema and describes the columns of its tables.
void check_description(const Json& result) {
  check_schema(result);
  for (const Json& table : result.at("tables").items()) {
    for (const Json& column : table.at("columns").items()) column_of(column);
  }
}

/// Returns a result in a run's folder. Errors: it is no result, or it is for the weights of another
/// run.
Json read_report(const Run& run, const std::filesystem::path& file) {
  Json json = read_json(file);
  if (!json.is_object() || json.find("headlab") == nullptr) {
    throw Error(text("cannot read ", file.string(),
                     ": it is not the result of an analysis of a run"),
                "remove it, or repeat the analysis");
  }
  in_context(text("cannot read ", file.string()), [&] { check_description(json); });
  const Json* owner = json.find("run");
  if ((owner != nullptr && *owner != Json(identity_of(run.config))) ||
      (is_outdated(run, json) && step_of(json) >= run.step)) {
    throw Error(text("cannot read ", file.string(), ": it describes the weights of another run"),
                "remove it, or repeat the analysis");
  }
  return json;
}

/// Returns the result of a run that its folder does not hold; nullptr if there is none.
const UnkeptResult* unkept_result(const std::vector<UnkeptResult>& all, const Run& run,
                                  const std::string& file) {
  const auto is_it = [&](const UnkeptResult& one) {
    return one.run == name_of(run) && one.file == file;
  };
  const auto found = std::ranges::find_if(all, is_it);
  return found == all.end() ? nullptr : &*found;
}

/// Returns whether a key of a result holds a time, which would make two pages of one run differ.
bool is_machine_dependent(const Json::Member& member) { return member.first == "sets_per_s"; }

/// Returns the number to four significant digits, which is enough for a drawing.
Json short_number(const Json& number) {
  if (!number.is_number() || number.number() == 0) return number;
  const double size = std::pow(10.0, 3 - std::floor(std::log10(std::abs(number.number()))));
  return std::round(number.number() * size) / size;
}

/// Returns the value of a relation in `part` of each head of each line, by head, then by line.
Json head_columns(const std::vector<Json>& lines, const char* part, const std::string& relation) {
  Json heads = Json::array();
  const std::size_t count = lines.back().at("heads").items().size();
  for (std::size_t h = 0; h < count; ++h) {
    Json steps = Json::array();
    for (const Json& line : lines) {
      const Json::Array& all = line.at("heads").items();
      steps.push_back(h < all.size() ? short_number(all[h].at(part).at(relation)) : Json());
    }
    heads.push_back(std::move(steps));
  }
  return heads;
}

Json history_of_relation(const std::vector<Json>& lines, const RelationHistory& relation) {
  return Json::object(
      {{"best", relation.best},
       {"emergence_step", relation.emergence_step < 0 ? Json() : Json(relation.emergence_step)},
       {"lift", head_columns(lines, "lift", relation.name)},
       {"mass", head_columns(lines, "mass", relation.name)}});
}

Json history_columns(const std::vector<Json>& lines, const HeadsHistory& history) {
  Json heads = Json::array();
  Json relations = Json::object();
  for (const Json& head : lines.back().at("heads").items()) {
    heads.push_back(Json::Array{head.at("layer"), head.at("head")});
  }
  for (const RelationHistory& relation : history.relations) {
    relations[relation.name] = history_of_relation(lines, relation);
  }
  return Json::object({{"steps", history.steps}, {"heads", heads}, {"relations", relations}});
}

}  // namespace

Json run_reports(const Run& run, const std::vector<UnkeptResult>& unkept) {
  Json reports = Json::object();
  for (const ResultEntry& entry : result_table()) {
    const std::filesystem::path file = result_file(run, entry.file);
    if (file.extension() != ".json" || entry.views.empty()) continue;
    const UnkeptResult* here = unkept_result(unkept, run, entry.file);
    if (here == nullptr && !is_there(file)) continue;
    Json report = here != nullptr ? here->result : read_report(run, file);
    std::erase_if(report.members(), is_machine_dependent);
    if (is_outdated(run, report)) continue;
    reports[std::filesystem::path(entry.file).stem().string()] = std::move(report);
  }
  return reports;
}

std::vector<PageSource> run_sources(const Run& run, const PageOptions& options) {
  std::vector<PageSource> list;
  for (const ResultEntry& entry : result_table()) {
    if (entry.views.empty()) continue;
    const bool is_result = entry.file.ends_with(".json");
    const std::filesystem::path file =
        is_result ? result_file(run, entry.file) : run.path / entry.file;
    PageSource& row = list.emplace_back(PageSource{name_of(run), entry.file, is_there(file)});
    row.views = entry.views;
    row.command = options.writer ? options.writer(run, entry.file) : "";
    const UnkeptResult* here = unkept_result(options.unkept, run, entry.file);
    row.present = row.present || here != nullptr;
    if (!row.present || file.extension() != ".json") continue;
    const Json report = here != nullptr ? here->result : read_report(run, file);
    if (step_of(report) >= 0) row.step = step_of(report);
    row.outdated = is_outdated(run, report);
  }
  return list;
}

Json run_history(const Run& run) {
  const std::filesystem::path file = heads_log_file(run);
  const std::vector<Json> lines = read_log(file, identity_of(run.config));
  if (lines.empty()) return {};
  const HeadsHistory history = read_heads_history(run);
  return in_context(text("cannot read ", file.string()),
                    [&] { return history_columns(lines, history); });
}

Json run_figures(const Run& run, const Json& facts) {
  Json figures = Json::object();
  const RunLosses losses = losses_of("", read_log(metrics_file(run), identity_of(run.config)));
  if (std::ranges::any_of(losses.losses, [](double loss) { return std::isfinite(loss); })) {
    figures["losses"] = losses_figure({losses}).data;
  }
  if (!facts.at("history").is_null()) {
    const HeadsHistory history = for_reader(read_heads_history(run), run.config.task);
    figures["history"] = history_figure(history).data;
  }
  if (const Json* report = facts.at("reports").find("curve")) {
    in_context(text("cannot read ", result_file(run, "curve.json").string()), [&] {
      const Curve curve = read_as<Curve>(*report);
      figures["curve"] = curve_figure(over_runs(std::span(&curve, 1))).data;
    });
  }
  return figures;
}

}  // namespace headlab
