// What an arm's runs have reached is read where it is kept, in cells of sweeps, in histories and in
// curves; a loss that is kept nowhere is measured once more. A new measure is a row of kMeasures.
// Read next: headlab/lab/sweep.h.
#include "headlab/lab/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/text.h"
#include "headlab/heads/tracking.h"
#include "headlab/lab/sweep.h"
#include "headlab/prune/curve.h"
#include "headlab/prune/methods.h"

namespace headlab {
namespace {

namespace fs = std::filesystem;

using Stage = std::optional<Judged> (*)(const CurvePoint& point);
const std::map<std::string, Stage> kStages = {
    {"", [](const CurvePoint& p) { return std::optional(p.finetuned.value_or(p.pruned)); }},
    {"pruned", [](const CurvePoint& p) { return std::optional(p.pruned); }},
    {"finetuned", [](const CurvePoint& p) { return p.finetuned; }},
    {"from_scratch", [](const CurvePoint& p) { return p.from_scratch; }}};

bool is_method(const std::string& name) {
  try {
    find_prune_method(name);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Takes what a method left off the end of an arm's name: ":METHOD", ":METHOD@KEPT" or
/// ":METHOD@KEPT:STAGE".
std::optional<Pruned> split_off_pruned(std::string& name) {
  const std::size_t at = name.rfind('@'), colon = name.rfind(':', at);
  if (colon == name.npos || fs::exists(name)) return std::nullopt;
  const std::size_t stage = std::min(name.find(':', colon + 1), name.size());
  const std::string size = at == name.npos ? "" : name.substr(at + 1, stage - at - 1);
  Pruned pruned{name.substr(colon + 1, std::min(at, name.size()) - colon - 1),
                name.substr(std::min(stage + 1, name.size()))};
  if (at == name.npos) {  // a name may hold a colon: task=relations:length=8
    if (!is_method(pruned.method)) return std::nullopt;
  } else {
    if (size.empty() || size.size() > 6 || size.find_first_not_of("0123456789") != size.npos)
      throw Error(name + " is no arm", "what a method left is RUN:METHOD@KEPT, as runs/a:greedy@4");
    if (!kStages.contains(pruned.stage))
      throw unknown_name("stage", pruned.stage, {"pruned", "finetuned", "from_scratch"});
    pruned.kept = std::stoll(size);
  }
  name.resize(colon);
  return pruned;
}

MethodCurve curve_by(const std::string& method, const fs::path& run) {
  const fs::path file = run / "curve.json";
  if (!fs::exists(file))
    throw Error("there is no curve of " + run.string(), "first: headlab curve " + run.string());
  return in_context(file.string(), [&] {
    std::vector<std::string> known;
    const Json json = read_json(file);
    for (const Json& one : json.at("methods").items()) {
      MethodCurve curve = read_as<MethodCurve>(one);
      if (curve.method == method) return curve;
      known.push_back(curve.method);
    }
    throw unknown_name("method", method, known);
  });
}

Judged left_by(const Pruned& pruned, const fs::path& run) {
  const MethodCurve curve = curve_by(pruned.method, run);
  require(pruned.kept.has_value(), "of ", pruned.method, " which size? As ", pruned.method, "@4");
  for (const CurvePoint& point : curve.points)
    if (const auto judged = kStages.at(pruned.stage)(point); judged && point.kept == *pruned.kept)
      return *judged;
  throw Error(text("nothing ", pruned.stage, pruned.stage.empty() ? "" : " ", "is there of ",
                   pruned.method, " at ", *pruned.kept, " heads in ", run.string()),
              "make the curve again with this size");
}

Judged reached_by(const fs::path& path) {
  if (fs::exists(path / "cell.json")) return read_as<Judged>(read_json(path / "cell.json"));
  const Run run = open_run(path);
  return judge(run.model, *run.task, {.examples = run.config.train.eval_examples});
}

using Measured = std::optional<double>;

template <double Judged::*number>
Measured of_judged(const fs::path& run, const std::optional<Pruned>& pruned) {
  return (pruned ? left_by(*pruned, run) : reached_by(run)).*number;
}

/// The mean of number(role) over the roles of a cell, the relations of its task.
template <double (*number)(const SweepRole&)>
Measured of_roles(const fs::path& run, const std::optional<Pruned>& pruned) {
  require(!pruned, "this measure is of trained runs, not of what a method left");
  const std::vector<double> values = mapped(read_cell(run).roles, number);
  return values.empty() ? Measured() : mean(values);
}

double lift_of(const SweepRole& role) { return role.head ? role.lift : 0; }
double owned_of(const SweepRole& role) { return role.owned ? 1 : 0; }

Measured mean_birth(const fs::path& path, const std::optional<Pruned>& pruned) {
  require(!pruned, "roles are born in training, not in what a method left");
  std::vector<double> steps;
  for (const RelationHistory& relation : read_heads_history(open_run(path)).relations)
    if (relation.born >= 0) steps.push_back(static_cast<double>(relation.born));
  return steps.empty() ? Measured() : mean(steps);
}

template <auto number>
Measured of_curve(const fs::path& run, const std::optional<Pruned>& pruned) {
  if (!pruned || pruned->kept)
    throw Error("this measure is of a method's whole curve", "name the method: RUN:METHOD");
  return curve_by(pruned->method, run).*number;
}

using enum Measure::By;
constexpr Measure kMeasures[] = {
    {"loss", "on held-out examples", ratio, 1.25, of_judged<&Judged::loss>},
    {"accuracy", "on held-out examples", share_difference, 0.005, of_judged<&Judged::accuracy>},
    {"lift", "of each relation's head, mean over relations", difference, 0.05, of_roles<lift_of>},
    {"owned", "share of relations that own a head", share_difference, 0.05, of_roles<owned_of>},
    {"born", "step at which a role was born, mean over relations", ratio, 1.25, mean_birth},
    {"regret", "of a method's curve above the best subsets, in nats", difference, 0.01,
     of_curve<&MethodCurve::regret>},
    {"knee", "the fewest heads by a method within 1% of the way from all to none", difference, 0.5,
     of_curve<&MethodCurve::knee>}};

Arm arm_of(const std::string& name, const std::vector<fs::path>& runs,
           const std::optional<Pruned>& pruned, const Measure& measure) {
  std::map<std::int64_t, Measured> values;
  for (const fs::path& run : runs) {
    const std::int64_t seed = read_config(run).train.seed;
    require(values.emplace(seed, measure.of(run, pruned)).second, name, " has two runs of seed ",
            seed, ": they would be no two seeds");
  }
  Arm arm{name, {}};
  for (const auto& [seed, value] : values)
    if (value) arm.seeds.push_back(seed), arm.values.push_back(*value);
  return arm;
}

bool is_run(const fs::path& path) { return fs::exists(path / "config.json"); }

/// The runs of each finished group of a sweep, or of the one that is named.
std::vector<std::pair<std::string, std::vector<fs::path>>> groups_in(const fs::path& sweep,
                                                                     const std::string& named) {
  std::vector<std::pair<std::string, std::vector<fs::path>>> groups;
  for (const SweepCell& cell : kept_cells(sweep)) {
    if (!named.empty() && cell.group != named) continue;
    if (cell_state(sweep, cell) != CellState::finished) continue;
    if (groups.empty() || groups.back().first != cell.group) groups.push_back({cell.group, {}});
    groups.back().second.push_back(sweep / cell.name);
  }
  return groups;
}

}  // namespace

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

namespace {

/// On the seeds that both have; `equal` becomes the p of the test of equality.
Paired compared(const Arm& arm, const Arm& reference, bool ratios, double margin, double& equal) {
  std::vector<double> a, b;
  for (std::size_t i = 0; i < arm.seeds.size(); ++i) {
    const auto at = std::ranges::find(reference.seeds, arm.seeds[i]) - reference.seeds.begin();
    if (at == std::ssize(reference.seeds)) continue;
    a.push_back(arm.values[i]), b.push_back(reference.values[at]);
  }
  require(!a.empty(), arm.name, " and ", reference.name, " have no seed in common");
  std::vector<double> differences(a.size());
  if (ratios)
    differences = log_ratios(a, b);
  else
    std::ranges::transform(a, b, differences.begin(), std::minus<>());
  equal = equal_p(differences, ratios ? std::log(margin) : margin);
  return paired(differences);
}

std::string verdict_of(const Paired& one, double equal, double margin) {
  if (one.told_apart()) return one.difference.mean < 0 ? "lower" : "higher";
  if (equal < 0.05) return text("equal within ", margin);
  return "not told apart";
}

Interval mean_over_seeds(const Arm& arm, const Measure& measure) {
  return measure.by == ratio              ? geometric_interval(arm.values)
         : measure.by == share_difference ? share_interval(arm.values)
                                          : t_interval(arm.values);
}

/// What all names begin with, whole parts of them alone.
std::string common_beginning(std::span<const Arm> arms) {
  std::string_view common = arms[0].name;
  for (const Arm& arm : arms)
    common = common.substr(0, std::ranges::mismatch(common, arm.name).in1 - common.begin());
  return std::string(common.substr(0, common.find_last_of("/:,") + 1));
}

/// Shows the names of arms, which programs get whole, without what all of them begin with.
std::vector<Table> shortened(std::vector<Table> tables, const std::string& common) {
  if (common.empty()) return tables;
  tables[0].title = "arms of " + common;
  for (Table& table : tables) {
    if (!table.shown) continue;
    table.columns[0].digits = kHidden;
    table.columns.insert(table.columns.begin() + 1, untold("shown", "arm", ""));
    for (Json::Array& row : table.rows)
      row.insert(row.begin() + 1, row[0].string().substr(common.size()));
  }
  return tables;
}

Table arms_table(std::span<const Arm> arms, const Measure& measure) {
  const char* how = measure.by == ratio ? "; geometric mean over seeds, 95% interval on logarithms"
                    : measure.by == share_difference ? "; mean over seeds, 95% interval of Wilson"
                                                     : "; mean over seeds, 95% interval";
  Table table{"arms",
              {untold("arm", "arm", ""),
               untold("seeds", "seeds", "runs of the mean"),
               {text(measure.name, ".mean,low,high"), measure.name, text(measure.meaning, how)}}};
  for (const Arm& arm : arms) {
    Json mean;  // none where no run has such a number
    if (const Interval found = mean_over_seeds(arm, measure); !arm.values.empty())
      mean = Json::Array{found.mean, found.low, found.high};
    table.rows.push_back({arm.name, arm.seeds.size(), std::move(mean)});
  }
  return table;
}

Table seeds_table(std::span<const Arm> arms, const Measure& measure) {
  Table table{"seeds", {{"arm", "arm"}, {"seed", "seed"}, {measure.name, measure.name}}};
  table.shown = false;
  for (const Arm& arm : arms)
    for (std::size_t i = 0; i < arm.seeds.size(); ++i)
      table.rows.push_back({arm.name, arm.seeds[i], arm.values[i]});
  return table;
}

Table comparisons_table(bool ratios, const std::string& reference) {
  return {"comparisons",
          {untold("arm", "arm", ""),
           {ratios ? "ratio.mean,low,high" : "difference.mean,low,high",
            text(ratios ? "times " : "less ", reference), "", ratios ? kPlain : kSigned, "", false},
           {"wins", "lower", "seeds in which it is lower than the reference"},
           untold("seeds", "of", "seeds that both have"),
           {"p", "p", "", kHidden},
           {"p_holm", "p", "by flipping signs of seeds, corrected by Holm for all that are asked"},
           {"effect_size", "effect",
            "mean of the differences (of ratios: of logarithms) / their standard deviation", 2},
           {"seeds_to_tell", "takes",
            "seeds with which 8 of 10 experiments would tell a difference of this effect"},
           {"p_equal", "p of equal", "", kHidden},
           {"verdict", "the seeds say",
            "lower or higher by p < .05; equal by two one-sided tests "
            "within the margin"}}};
}

}  // namespace

std::span<const Measure> measures() { return kMeasures; }

const Measure& find_measure(const std::string& name) {
  return named("measure", name, kMeasures, &Measure::name);
}

std::vector<Arm> arms_of(const std::string& name, const Measure& measure) {
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
  const Measure& measure = find_measure(options.measure);
  const bool ratios = measure.by == ratio;
  const double margin = options.margin > 0 ? options.margin : measure.margin;
  require(!ratios || margin > 1, "a margin of ratios is a factor above 1, not ", margin);
  const std::vector<std::string> names = texts_of(arms, &Arm::name);
  require(arms.size() >= 2, "there is nothing to compare: name two arms or more");
  for (const std::string& name : names)
    require(std::ranges::count(names, name) == 1, "the arm ", name, " is named twice");
  const std::string wanted = options.reference.empty() ? names[0] : options.reference;
  const Arm* reference = &named("arm", wanted, arms, &Arm::name);
  std::vector<Paired> found(arms.size());
  std::vector<double> equal(arms.size(), 1);
  std::vector<Paired*> asked;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (&arms[i] == &*reference || arms[i].values.empty()) continue;
    found[i] = compared(arms[i], *reference, ratios, margin, equal[i]);
    asked.push_back(&found[i]);
  }
  correct(asked);
  const std::string common = common_beginning(arms);
  Table table = comparisons_table(ratios, wanted.substr(common.size()));
  Index most = 0;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const Paired& one = found[i];
    if (one.seeds == 0) continue;
    most = std::max(most, one.seeds);
    const Interval shown = ratios ? exp_of(one.difference) : one.difference;
    const Index takes = seeds_to_tell(one.effect, 0.05 / static_cast<double>(asked.size()));
    table.rows.push_back({arms[i].name, Json::Array{shown.mean, shown.low, shown.high}, one.wins,
                          one.seeds, one.p, one.holm, one.effect, takes > 0 ? Json(takes) : Json(),
                          equal[i], verdict_of(one, equal[i], margin)});
  }
  table.note = chance_text(most);
  return {.about = stamped({{"measure", measure.name}, {"reference", wanted}, {"margin", margin}}),
          .tables =
              shortened({arms_table(arms, measure), table, seeds_table(arms, measure)}, common)};
}

}  // namespace headlab
