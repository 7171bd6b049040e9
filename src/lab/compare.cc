// What an arm's runs have reached is read where it is kept, in cells of sweeps and in curves; a run
// without either is evaluated once more.
// Read next: headlab/lab/sweep.h.
#include "headlab/lab/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/text.h"
#include "headlab/lab/sweep.h"
#include "headlab/prune/curve.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

/// What a method left: METHOD@KEPT or METHOD@KEPT:STAGE.
struct Pruned {
  std::string method, stage{};
  Index kept = 0;
};
using Stage = std::optional<Judged> (*)(const CurvePoint& point);
const std::map<std::string, Stage> kStages = {
    {"", [](const CurvePoint& p) { return std::optional(p.finetuned.value_or(p.pruned)); }},
    {"pruned", [](const CurvePoint& p) { return std::optional(p.pruned); }},
    {"finetuned", [](const CurvePoint& p) { return p.finetuned; }},
    {"from_scratch", [](const CurvePoint& p) { return p.from_scratch; }}};

/// Takes what a method left off the end of an arm's name.
std::optional<Pruned> split_off_pruned(std::string& name) {
  const std::size_t at = name.rfind('@');
  const std::size_t colon = at == name.npos ? at : name.rfind(':', at);
  if (colon == name.npos || fs::exists(name)) return std::nullopt;
  const std::size_t stage = std::min(name.find(':', at), name.size());
  const std::string kept = name.substr(at + 1, stage - at - 1);
  Pruned pruned{name.substr(colon + 1, at - colon - 1),
                name.substr(std::min(stage + 1, name.size()))};
  if (kept.empty() || kept.size() > 6 || kept.find_first_not_of("0123456789") != kept.npos)
    throw Error(name + " is no arm", "what a method left is RUN:METHOD@KEPT, as runs/a:greedy@4");
  if (!kStages.contains(pruned.stage))
    throw unknown_name("stage", pruned.stage, {"pruned", "finetuned", "from_scratch"});
  pruned.kept = std::stoll(kept);
  name.resize(colon);
  return pruned;
}

Judged left_by(const Pruned& pruned, const fs::path& run) {
  const fs::path file = run / "curve.json";
  if (!fs::exists(file))
    throw Error("there is no curve of " + run.string(), "first: headlab curve " + run.string());
  return in_context(file.string(), [&] {
    std::vector<std::string> known;
    const Json json = read_json(file);
    for (const Json& one : json.at("methods").items()) {
      const MethodCurve method = method_curve_of(one);
      known.push_back(method.method);
      if (method.method != pruned.method) continue;
      for (const CurvePoint& point : method.points)
        if (const auto judged = kStages.at(pruned.stage)(point);
            judged && point.kept == pruned.kept)
          return *judged;
      throw Error(text("nothing ", pruned.stage, pruned.stage.empty() ? "" : " ", "is there of ",
                       pruned.method, " at ", pruned.kept, " heads"),
                  "make the curve again with this size");
    }
    throw unknown_name("method", pruned.method, known);
  });
}

Judged reached_by(const fs::path& path) {
  if (fs::exists(path / "cell.json")) return judged_of(read_json(path / "cell.json"));
  const Run run = open_run(path);
  return judge(run.model, *run.task, {.examples = run.config.train.eval_examples});
}

Arm arm_of(const std::string& name, const std::vector<fs::path>& runs,
           const std::optional<Pruned>& pruned, Measure measure) {
  std::map<std::int64_t, double> values;
  for (const fs::path& run : runs) {
    const std::int64_t seed = read_config(run).train.seed;
    const Judged judged = pruned ? left_by(*pruned, run) : reached_by(run);
    const bool fresh =
        values.emplace(seed, measure == Measure::loss ? judged.loss : judged.accuracy).second;
    require(fresh, name, " has two runs of seed ", seed, ": they would be no two seeds");
  }
  Arm arm{name, {}};
  for (const auto& [seed, value] : values) arm.seeds.push_back(seed), arm.values.push_back(value);
  return arm;
}

bool is_run(const fs::path& path) { return fs::exists(path / "config.json"); }

/// The runs of each finished group of a sweep, or of the one that is named.
std::vector<std::pair<std::string, std::vector<fs::path>>> groups_in(const fs::path& sweep,
                                                                     const std::string& named) {
  std::vector<std::pair<std::string, std::vector<fs::path>>> groups;
  for (const SweepCell& cell : cells_of_grids(read_grids(sweep))) {
    if (!named.empty() && cell.group != named) continue;
    if (cell_state(sweep, cell) != CellState::finished) continue;
    if (groups.empty() || groups.back().first != cell.group) groups.push_back({cell.group, {}});
    groups.back().second.push_back(sweep / cell.name);
  }
  return groups;
}

std::vector<fs::path> runs_at(const std::string& place) {
  if (is_run(place)) return {place};
  std::vector<fs::path> runs;
  const fs::path path = place;
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::directory_iterator(path))
      if (is_run(entry.path())) runs.push_back(entry.path());
  } else if (fs::exists(path.parent_path() / "grid.json")) {
    for (const auto& [group, cells] : groups_in(path.parent_path(), path.filename().string()))
      runs = cells;
  } else if (place.find('+') != place.npos) {
    for (const std::string_view part : split(place, '+'))
      for (fs::path& run : runs_at(std::string(part))) runs.push_back(std::move(run));
  }
  if (runs.empty())
    throw Error("there is no run at " + place,
                "an arm is a run, a folder of runs, RUN+RUN, SWEEP/GROUP, or one of these with "
                ":METHOD@KEPT");
  return runs;
}

/// On the seeds that both have; `equal` becomes the p of the test of equality.
Paired compared(const Arm& arm, const Arm& reference, Measure measure, double margin,
                double& equal) {
  std::vector<double> a, b;
  for (std::size_t i = 0; i < arm.seeds.size(); ++i) {
    const auto at = std::ranges::find(reference.seeds, arm.seeds[i]) - reference.seeds.begin();
    if (at == std::ssize(reference.seeds)) continue;
    a.push_back(arm.values[i]), b.push_back(reference.values[at]);
  }
  require(!a.empty(), arm.name, " and ", reference.name, " have no seed in common");
  std::vector<double> differences = log_ratios(a, b);
  if (measure == Measure::accuracy)
    std::ranges::transform(a, b, differences.begin(), std::minus<>());
  equal = equal_p(differences, measure == Measure::loss ? std::log(margin) : margin);
  return paired(differences);
}

std::string verdict_of(const Paired& one, double equal, double margin) {
  if (one.told_apart()) return one.difference.mean < 0 ? "lower" : "higher";
  if (equal < 0.05) return text("equal within ", margin);
  return "not told apart";
}

Table arms_table(std::span<const Arm> arms, Measure measure) {
  const bool loss = measure == Measure::loss;
  Table table{"arms",
              {{"arm", "arm", "", kPlain, "", false},
               {"seeds", "seeds", "", kPlain, "", false},
               {loss ? "loss.mean,low,high" : "accuracy.mean,low,high", loss ? "loss" : "accuracy",
                loss ? "geometric mean over seeds, 95% interval on logarithms"
                     : "mean over seeds, 95% interval of Wilson"}}};
  for (const Arm& arm : arms) {
    const Interval mean = loss ? geometric_interval(arm.values) : share_interval(arm.values);
    table.rows.push_back({arm.name, arm.seeds.size(), Json::Array{mean.mean, mean.low, mean.high}});
  }
  return table;
}

Table seeds_table(std::span<const Arm> arms, Measure measure) {
  const char* name = measure == Measure::loss ? "loss" : "accuracy";
  Table table{"seeds", {{"arm", "arm"}, {"seed", "seed"}, {name, name}}};
  table.shown = false;
  for (const Arm& arm : arms)
    for (std::size_t i = 0; i < arm.seeds.size(); ++i)
      table.rows.push_back({arm.name, arm.seeds[i], arm.values[i]});
  return table;
}

Table comparisons_table(Measure measure, const std::string& reference) {
  const bool loss = measure == Measure::loss;
  return {"comparisons",
          {{"arm", "arm", "", kPlain, "", false},
           {loss ? "ratio.mean,low,high" : "difference.mean,low,high",
            text(loss ? "times " : "less ", reference), "", loss ? kPlain : kSigned, "", false},
           {"wins", "lower", "seeds in which it is lower than the reference"},
           {"seeds", "of", "seeds that both have", kPlain, "", false},
           {"p", "p", "", kHidden},
           {"p_holm", "p", "by flipping signs of seeds, corrected by Holm for all that are asked"},
           {"effect_size", "effect",
            "mean of the differences (of losses: of logarithms) / their standard deviation", 2},
           {"seeds_to_tell", "takes",
            "seeds with which 8 of 10 experiments would tell a difference of this effect"},
           {"p_equal", "p of equal", "", kHidden},
           {"verdict", "the seeds say",
            "lower or higher by p < .05; equal by two one-sided tests "
            "within the margin"}}};
}

}  // namespace

std::vector<Arm> arms_of(const std::string& name, Measure measure) {
  std::string place = name;
  const std::optional<Pruned> pruned = split_off_pruned(place);
  const std::string suffix = name.substr(place.size());
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  if (is_run(place) || !fs::exists(fs::path(place) / "grid.json"))
    return {arm_of(name, runs_at(place), pruned, measure)};
  std::vector<Arm> arms;
  for (const auto& [group, runs] : groups_in(place, ""))
    arms.push_back(arm_of(text(place, "/", group, suffix), runs, pruned, measure));
  return arms;
}

Finding compare_arms(std::span<const Arm> arms, const CompareOptions& options) {
  const bool loss = options.measure == Measure::loss;
  const double margin = options.margin > 0 ? options.margin : loss ? 1.25 : 0.005;
  require(!loss || margin > 1, "a margin of losses is a factor above 1, not ", margin);
  const std::vector<std::string> names = texts_of(arms, &Arm::name);
  require(arms.size() >= 2, "there is nothing to compare: name two arms or more");
  for (const std::string& name : names)
    require(std::ranges::count(names, name) == 1, "the arm ", name, " is named twice");
  const std::string wanted = options.reference.empty() ? names[0] : options.reference;
  const auto reference = std::ranges::find(arms, wanted, &Arm::name);
  if (reference == arms.end()) throw unknown_name("arm", wanted, names);
  std::vector<Paired> found(arms.size());
  std::vector<double> equal(arms.size(), 1);
  std::vector<Paired*> asked;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (&arms[i] == &*reference) continue;
    found[i] = compared(arms[i], *reference, options.measure, margin, equal[i]);
    asked.push_back(&found[i]);
  }
  correct(asked);
  Table table = comparisons_table(options.measure, wanted);
  const auto count = static_cast<double>(asked.size());
  Index most = 0;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const Paired& one = found[i];
    if (one.seeds == 0) continue;
    most = std::max(most, one.seeds);
    const Interval shown = loss ? exp_of(one.difference) : one.difference;
    const Index takes = seeds_to_tell(one.effect, 0.05 / count);
    table.rows.push_back({arms[i].name, Json::Array{shown.mean, shown.low, shown.high}, one.wins,
                          one.seeds, one.p, one.holm, one.effect, takes > 0 ? Json(takes) : Json(),
                          equal[i], verdict_of(one, equal[i], margin)});
  }
  table.note = chance_text(most);
  return {.about = stamped(
              {{"measure", loss ? "loss" : "accuracy"}, {"reference", wanted}, {"margin", margin}}),
          .tables = {arms_table(arms, options.measure), table, seeds_table(arms, options.measure)}};
}

}  // namespace headlab
