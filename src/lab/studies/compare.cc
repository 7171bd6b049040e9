// What an arm's runs have reached is read where it is kept, in cells of sweeps, in histories and in
// curves; a loss that is kept nowhere is measured once more. A new measure is a row of kMeasures.
// Read next: headlab/lab/sweep.h.
#include "headlab/lab/compare.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
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
    throw Error("there is no curve of " + run.string(),
                "first: headlab curve " + shell_word(run.string()));
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
constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr Measure kMeasures[] = {
    {"loss", "on held-out examples", ratio, 1.25, 0, kNoLimit, of_judged<&Judged::loss>},
    {"accuracy", "on held-out examples", share_difference, 0.005, 0, 1,
     of_judged<&Judged::accuracy>},
    {"lift", "of each relation's head, mean over relations", difference, 0.05, -kNoLimit, 1,
     of_roles<lift_of>},
    {"owned", "share of relations that own a head", share_difference, 0.05, 0, 1,
     of_roles<owned_of>},
    {"born", "step at which a role was born, mean over relations", ratio, 1.25, 0, kNoLimit,
     mean_birth},
    {"regret", "of a method's curve above the best subsets, in nats", difference, 0.01, 0, kNoLimit,
     of_curve<&MethodCurve::regret>},
    {"knee", "the fewest heads by a method within 1% of the way from all to none", difference, 0.5,
     0, kNoLimit, of_curve<&MethodCurve::knee>}};

Arm arm_of(const std::string& name, const std::vector<fs::path>& runs,
           const std::optional<Pruned>& pruned, const Measure& measure) {
  std::map<std::int64_t, Measured> values;
  for (const fs::path& run : runs) {
    const std::int64_t seed = read_config(run).train.seed;
    require(values.emplace(seed, measure.of(run, pruned)).second, name, " has two runs of seed ",
            seed, ": they would be no two seeds");
  }
  Arm arm{name, {}};
  for (const auto& [seed, value] : values) {
    if (!value) {
      arm.without.push_back(seed);
      continue;
    }
    arm.seeds.push_back(seed);
    arm.values.push_back(*value);
  }
  return arm;
}

bool is_run(const fs::path& path) { return fs::exists(path / "config.json"); }

/// The cells of a sweep that differ in their seeds alone.
struct Group {
  std::string name;
  std::vector<fs::path> runs{};
  std::vector<std::int64_t> missing{};  // seeds of cells that are not finished
};

/// The groups of a sweep with a finished cell, or the one that is named.
std::vector<Group> groups_in(const fs::path& sweep, const std::string& named) {
  std::vector<Group> groups;
  for (const SweepCell& cell : kept_cells(sweep)) {
    if (!named.empty() && cell.group != named) continue;
    if (groups.empty() || groups.back().name != cell.group) groups.push_back({cell.group});
    if (cell_state(sweep, cell) == CellState::finished)
      groups.back().runs.push_back(sweep / cell.name);
    else
      groups.back().missing.push_back(cell.config.train.seed);
  }
  std::erase_if(groups, [](const Group& group) { return group.runs.empty(); });
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
    for (const Group& group : groups_in(path.parent_path(), path.filename().string()))
      runs.insert(runs.end(), group.runs.begin(), group.runs.end());
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

/// Two arms on the seeds that both have.
struct SideBySide {
  std::vector<double> arm{}, reference{};        // the numbers of seeds where both have one
  std::vector<std::int64_t> shared{}, either{};  // seeds
  Index arm_without = 0, reference_without = 0;  // runs of shared seeds without the number

  bool arm_fails_more() const { return arm_without > reference_without; }
  bool fail_alike() const { return arm_without == reference_without; }
};

/// All seeds of an arm, with the number or without it.
std::vector<std::int64_t> seeds_of(const Arm& arm) {
  std::vector<std::int64_t> all = arm.seeds;
  all.insert(all.end(), arm.without.begin(), arm.without.end());
  std::ranges::sort(all);
  return all;
}

std::optional<double> number_of(const Arm& arm, std::int64_t seed) {
  const auto at = std::ranges::find(arm.seeds, seed) - arm.seeds.begin();
  return at == std::ssize(arm.seeds) ? std::nullopt : std::optional(arm.values[at]);
}

SideBySide side_by_side(const Arm& arm, const Arm& reference) {
  SideBySide both;
  const std::vector<std::int64_t> a = seeds_of(arm), b = seeds_of(reference);
  std::ranges::set_intersection(a, b, std::back_inserter(both.shared));
  std::ranges::set_union(a, b, std::back_inserter(both.either));
  require(!both.shared.empty(), arm.name, " and ", reference.name, " have no seed in common");
  for (const std::int64_t seed : both.shared) {
    const std::optional<double> x = number_of(arm, seed), y = number_of(reference, seed);
    both.arm_without += x ? 0 : 1;
    both.reference_without += y ? 0 : 1;
    if (!x || !y) continue;
    both.arm.push_back(*x);
    both.reference.push_back(*y);
  }
  return both;
}

/// One arm against the reference.
struct Comparison {
  const Arm* arm;
  SideBySide sides;
  Paired found{};
  double equal = 1;  // p of the test of equality
};

Comparison compared(const Arm& arm, const Arm& reference, bool ratios, double margin) {
  Comparison one{&arm, side_by_side(arm, reference)};
  const std::vector<double>&a = one.sides.arm, &b = one.sides.reference;
  if (a.empty()) return one;
  std::vector<double> differences(a.size());
  if (ratios)
    differences = log_ratios(a, b);
  else
    std::ranges::transform(a, b, differences.begin(), std::minus<>());
  one.equal = equal_p(differences, ratios ? std::log(margin) : margin);
  one.found = paired(differences);
  return one;
}

std::string verdict_of(const Comparison& one, double margin) {
  const SideBySide& sides = one.sides;
  std::string said;
  if (one.found.seeds > 0 && one.found.told_apart())
    said = one.found.difference.mean < 0 ? "lower" : "higher";
  if (!sides.fail_alike()) {
    const std::string fails =
        text(sides.arm_fails_more() ? "fails more often: " : "fails less often: ",
             sides.arm_without, " of ", sides.shared.size(), " seeds against ",
             sides.reference_without);
    return said.empty() ? fails : text(fails, "; ", said, " where both have one");
  }
  if (!said.empty()) return said;
  if (one.found.seeds == 0) return "no seed has a number in both";
  return one.equal < 0.05 ? text("equal within ", margin) : "not told apart";
}

Interval mean_over_seeds(const std::vector<double>& values, const Measure& measure) {
  if (measure.by == ratio) return geometric_interval(values);
  if (measure.by == share_difference) return share_interval(values);
  return within(t_interval(values), measure.least, measure.most);
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
    const std::size_t arm = table.index_of("arm");
    const auto after = static_cast<std::ptrdiff_t>(arm + 1);
    table.columns[arm].form = Form::hidden;
    table.columns.insert(table.columns.begin() + after, Column("shown", "arm").no_legend());
    for (Json::Array& row : table.rows) {
      row.insert(row.begin() + after, row[arm].string().substr(common.size()));
    }
  }
  return tables;
}

Table arms_table(std::span<const Arm> arms, const Measure& measure) {
  const char* how = measure.by == ratio ? "; geometric mean over seeds, 95% interval on logarithms"
                    : measure.by == share_difference ? "; mean over seeds, 95% interval of Wilson"
                                                     : "; mean over seeds, 95% interval";
  Table table{"arms",
              {Column("arm", "arm").no_legend(),
               Column("seeds", "seeds", "runs of the mean").no_legend(),
               {"without", "without", "runs that have no such number and are not in the mean"},
               interval_column(measure.name, measure.name, text(measure.meaning, how))}};
  for (const Arm& arm : arms) {
    Json mean;  // none where no run has such a number
    if (!arm.values.empty()) {
      const Interval found = mean_over_seeds(arm.values, measure);
      mean = Json::Array{found.mean, found.low, found.high};
    }
    table.rows.push_back({arm.name, arm.seeds.size(), arm.without.size(), std::move(mean)});
  }
  if (std::ranges::all_of(arms, [](const Arm& arm) { return arm.without.empty(); })) {
    table.column("without").form = Form::hidden;
  }
  return table;
}

Table seeds_table(std::span<const Arm> arms, const Measure& measure) {
  Table table{"seeds", {{"arm", "arm"}, {"seed", "seed"}, {measure.name, measure.name}}};
  table.shown = false;
  for (const Arm& arm : arms)
    for (const std::int64_t seed : seeds_of(arm)) {
      const std::optional<double> value = number_of(arm, seed);
      table.rows.push_back({arm.name, seed, value ? Json(*value) : Json()});
    }
  return table;
}

Table comparisons_table(bool ratios, const std::string& reference) {
  return {
      "comparisons",
      {Column("arm", "arm").no_legend(),
       ratios ? interval_column("ratio", "times " + reference).no_legend()
              : interval_column("difference", "less " + reference)
                    .shown_as(Form::signed_number)
                    .no_legend(),
       {"wins", "lower", "seeds in which it is lower than the reference"},
       Column("seeds", "of", "seeds in which both have the number").no_legend(),
       Column("shared_seeds", "shared").hidden(),
       Column("seeds_of_either", "of either").hidden(),
       Column("mean", "mean", "of the arm over the seeds that are compared").hidden(),
       Column("reference_mean", "reference", "mean of the reference over the same seeds").hidden(),
       Column("p", "p").hidden(),
       {"p_holm", "p", "by flipping signs of seeds, corrected by Holm for all that are asked"},
       Column("effect_size", "effect",
              "mean of the differences (of ratios: of logarithms) / their standard deviation")
           .fixed(2),
       {"seeds_to_tell", "takes",
        "seeds with which 8 of 10 experiments would tell a difference of this effect"},
       Column("p_equal", "p of equal").hidden(),
       {"verdict", "the seeds say",
        "lower or higher by p < .05; equal by two one-sided tests "
        "within the margin"}}};
}

/// The row of a comparison; `asked`: how many were tested.
Json::Array row_of(const Comparison& one, const Measure& measure, std::size_t asked,
                   double margin) {
  const Paired& found = one.found;
  const std::string verdict = verdict_of(one, margin);
  const Json shared = one.sides.shared.size(), either = one.sides.either.size();
  if (found.seeds == 0)
    return {one.arm->name, Json(), 0,      0,      shared, either, Json(),
            Json(),        Json(), Json(), Json(), Json(), Json(), verdict};
  const double range = measure.most - measure.least;  // no difference is larger
  const Interval shown =
      measure.by == ratio ? exp_of(found.difference) : within(found.difference, -range, range);
  const Index takes = seeds_to_tell(found.effect, 0.05 / static_cast<double>(asked));
  return {one.arm->name,
          Json::Array{shown.mean, shown.low, shown.high},
          found.wins,
          found.seeds,
          shared,
          either,
          mean_over_seeds(one.sides.arm, measure).mean,
          mean_over_seeds(one.sides.reference, measure).mean,
          found.p,
          found.holm,
          found.effect,
          takes > 0 ? Json(takes) : Json(),
          one.equal,
          verdict};
}

std::string seeds_text(const std::vector<std::int64_t>& seeds) {
  return text(seeds.size() == 1 ? "seed " : "seeds ",
              join(texts_of(seeds, [](std::int64_t seed) { return text(seed); }), ", "));
}

/// What the means leave out: seeds without the number, not finished, or of one arm alone.
std::vector<std::string> notes_of(std::span<const Arm> arms, const std::vector<Comparison>& all,
                                  const Measure& measure) {
  std::vector<std::string> notes;
  for (const Arm& arm : arms) {
    if (!arm.without.empty())
      notes.push_back(text(arm.name, ": ", arm.seeds.size(), " of ",
                           arm.seeds.size() + arm.without.size(), " seeds have a ", measure.name,
                           "; ", seeds_text(arm.without),
                           arm.without.size() == 1 ? " has" : " have", " none"));
    if (!arm.missing.empty())
      notes.push_back(
          text(arm.name, ": ", seeds_text(arm.missing),
               arm.missing.size() == 1 ? " is not finished and is" : " are not finished and are",
               " left out"));
  }
  for (const Comparison& one : all) {
    const SideBySide& sides = one.sides;
    if (sides.shared.size() < sides.either.size())
      notes.push_back(text(sides.shared.size(), " of ", sides.either.size(),
                           sides.shared.size() == 1 ? " seeds is in " : " seeds are in ",
                           one.arm->name,
                           " and in the reference: the comparison is over these, the means of the "
                           "arms are over all their seeds"));
  }
  return notes;
}

}  // namespace

std::span<const Measure> measures() { return kMeasures; }

const Measure& find_measure(std::string_view name) {
  return named("measure", name, kMeasures, &Measure::name);
}

std::vector<Arm> arms_of(const std::string& name, const Measure& measure) {
  std::string place = name;
  const std::optional<Pruned> pruned = split_off_pruned(place);
  const std::string suffix = name.substr(place.size());
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  const fs::path path = place;
  if (is_run(path) || !fs::exists(path / "grid.json")) {
    Arm arm = arm_of(name, runs_at(place), pruned, measure);
    if (!fs::exists(path) && fs::exists(path.parent_path() / "grid.json"))
      for (const Group& group : groups_in(path.parent_path(), path.filename().string()))
        arm.missing.insert(arm.missing.end(), group.missing.begin(), group.missing.end());
    return {arm};
  }
  std::vector<Arm> arms;
  for (const Group& group : groups_in(path, "")) {
    arms.push_back(arm_of(text(place, "/", group.name, suffix), group.runs, pruned, measure));
    arms.back().missing = group.missing;
  }
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
  std::vector<Comparison> all;
  for (const Arm& arm : arms)
    if (&arm != reference && !seeds_of(arm).empty())
      all.push_back(compared(arm, *reference, ratios, margin));
  std::vector<Paired*> asked;
  for (Comparison& one : all)
    if (one.found.seeds > 0) asked.push_back(&one.found);
  correct(asked);
  const std::string common = common_beginning(arms);
  Table table = comparisons_table(ratios, wanted.substr(common.size()));
  Index most = 0;
  for (const Comparison& one : all) {
    most = std::max(most, one.found.seeds);
    table.rows.push_back(row_of(one, measure, asked.size(), margin));
    if (one.sides.shared.size() == one.sides.either.size()) continue;
    table.column("mean").form = Form::automatic;
    table.column("reference_mean").form = Form::automatic;
  }
  table.note = chance_text(most);
  Json notes = Json::array();
  for (std::string& one : notes_of(arms, all, measure)) notes.push_back(std::move(one));
  return {.about = stamped({{"measure", measure.name},
                            {"reference", wanted},
                            {"margin", margin},
                            {"notes", std::move(notes)}}),
          .tables =
              shortened({arms_table(arms, measure), table, seeds_table(arms, measure)}, common)};
}

}  // namespace headlab
