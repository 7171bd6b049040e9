// Comparison of arms seed by seed. It uses one test for all measures and one correction for both
// tests of all arms, and the conclusion reports the number of seeds in which an arm is lower. Read
// next: headlab/lab/studies/compare.h, arms.cc.
#include "headlab/lab/studies/compare.h"

#include <algorithm>
#include <cmath>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/runs/guards.h"
#include "lab/studies/compare_words.h"

namespace headlab {
namespace {

using enum Measure::By;

Interval mean_over_seeds(const std::vector<double>& values, const Measure& measure,
                         double targets) {
  if (measure.by == ratio) return geometric_interval(values);
  if (measure.by == share_difference) return share_interval(values, 0.95, targets);
  return within(sign_flip_interval(values), measure.least, measure.most);
}

}  // namespace

Interval mean_of_arm(const Arm& arm, const Measure& measure) {
  return mean_over_seeds(arm.values, measure, arm.targets);
}

namespace {

/// Returns the common prefix of all names, in whole parts only.
std::string common_beginning(std::span<const Arm> arms) {
  std::string_view common = arms[0].name;
  for (const Arm& arm : arms) {
    common = common.substr(0, std::ranges::mismatch(common, arm.name).in1 - common.begin());
  }
  return std::string(common.substr(0, common.find_last_of("/:,") + 1));
}

/// Shortens the displayed names of arms by their common prefix; programs get them in full.
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

std::string how_means_are_made(const Measure& measure) {
  if (measure.by_role != nullptr) {
    return "; geometric mean over seeds, 95% interval on logarithms; a role that never emerges "
           "counts as the last scored step, so that the mean is a lower bound";
  }
  if (measure.by == ratio) return "; geometric mean over seeds, 95% interval on logarithms";
  if (measure.by == share_difference) {
    return "; mean over seeds, 95% interval of Wilson over all targets, clustered by seed";
  }
  return "; mean over seeds, 95% interval by flipping signs; below 6 seeds the range of the seeds";
}

Table arms_table(std::span<const Arm> arms, const Measure& measure) {
  const bool by_role = measure.by_role != nullptr;
  Table table{
      "arms",
      {Column("arm", "arm").no_legend(),
       Column("role", "role").no_legend().hidden_unless(by_role),
       Column("seeds", "seeds", "runs of the mean").no_legend(),
       {"without", "without", "runs without a value; they are not in the mean"},
       Column("never", "never", "runs in which the role never emerges").hidden_unless(by_role),
       Column("at_first", "at first", "runs whose role is present at the first scored step")
           .hidden_unless(by_role),
       interval_column(measure.name, measure.name, measure.meaning + how_means_are_made(measure))}};
  for (const Arm& arm : arms) {
    Json mean;  // empty if no run has such a number
    if (!arm.values.empty()) {
      const Interval found = mean_of_arm(arm, measure);
      mean = Json::Array{found.mean, found.low, found.high};
    }
    table.rows.push_back({arm.name, arm.role, arm.seeds.size(), arm.without.size(),
                          arm.never.size(), arm.at_first.size(), std::move(mean)});
  }
  if (std::ranges::all_of(arms, [](const Arm& arm) { return arm.without.empty(); })) {
    table.column("without").form = Form::hidden;
  }
  return table;
}

Table seeds_table(std::span<const Arm> arms, const Measure& measure) {
  Table table{"seeds",
              {{"arm", "arm"}, {"role", "role"}, {"seed", "seed"}, {measure.name, measure.name}}};
  table.shown = false;
  for (const Arm& arm : arms) {
    for (const std::int64_t seed : seeds_of(arm)) {
      const std::optional<double> value = number_of(arm, seed);
      table.rows.push_back({arm.name, arm.role, seed, value ? Json(*value) : Json()});
    }
  }
  return table;
}

/// Returns the columns for the difference of an arm from the reference.
std::vector<Column> difference_columns(const Measure& measure, const std::string& reference) {
  const bool by_role = measure.by_role != nullptr;
  const Column of_means("ratio_of_means", "of means",
                        "ratio of the arithmetic means, which failed seeds dominate");
  if (measure.by != ratio) {
    return {interval_column("difference", "less " + reference)
                .shown_as(Form::signed_number)
                .no_legend(),
            of_means.hidden()};
  }
  return {interval_column("ratio", "times " + reference).no_legend(),
          of_means.hidden_unless(!by_role)};
}

Table comparisons_table(const Measure& measure, const std::string& reference) {
  const bool by_role = measure.by_role != nullptr;
  Table table{"comparisons",
              {Column("arm", "arm").no_legend(),
               Column("role", "role").no_legend().hidden_unless(by_role)}};
  table.append(difference_columns(measure, reference));
  table.append(
      {{"wins", by_role ? "earlier" : "lower",
        "number of seeds in which this arm is lower than the reference"},
       Column("seeds", "of", "number of seeds in which both arms have a value").no_legend(),
       Column("shared_seeds", "shared").hidden(),
       Column("seeds_of_either", "of either").hidden(),
       Column("mean", "mean", "mean of the arm over the compared seeds").hidden(),
       Column("reference_mean", "reference", "mean of the reference over the same seeds").hidden(),
       Column("p", "p").hidden(),
       {"p_holm", "p",
        "two-sided, by flipping signs of seeds, with one Holm correction for the differences and "
        "the equalities of all arms"},
       Column("effect_size", "effect",
              "mean of the differences (of ratios: of logarithms) / their standard deviation")
           .fixed(2),
       {"seeds_to_tell", "takes",
        "number of seeds needed to detect this effect with a power of 0.8"},
       Column("p_equal", "p of equal").hidden(),
       Column("p_equal_holm", "Holm's p of equal").hidden(),
       {"verdict", "conclusion",
        text(by_role ? "earlier or later" : "lower or higher",
             " if p < 0.05, with the number of seeds; equal by two one-sided tests within the "
             "margin, in the same correction")},
       Column("guard", "guard", "the guard that refused a conclusion").hidden()});
  return table;
}

/// Returns a row without numbers, for arms without a shared seed or that cannot be compared.
Json::Array row_without_numbers(const Comparison& one, const std::string& conclusion,
                                const std::string& guard) {
  constexpr std::size_t kCellsBeforeConclusion = 16;
  const Json shared = one.sides.shared.size();
  const Json either = one.sides.either.size();
  Json::Array row = {one.arm->name, one.arm->role, Json(), Json(), 0, 0, shared, either};
  row.resize(kCellsBeforeConclusion);
  row.emplace_back(conclusion);
  row.emplace_back(guard);
  return row;
}

/// Returns the row of a comparison; `pairs`: the number of compared arms.
Json::Array row_of(const Comparison& one, const Measure& measure, std::size_t pairs,
                   double margin) {
  const Paired& found = one.found.difference;
  const std::string conclusion = conclusion_of(one, measure, margin, pairs);
  const std::string guard = guard_of(one, pairs);
  if (found.seeds == 0) return row_without_numbers(one, conclusion, guard);
  const double range = measure.most - measure.least;  // no difference is larger
  const bool ratios = measure.by == ratio;
  const Interval shown =
      ratios ? exp_of(found.difference) : within(found.difference, -range, range);
  const Index takes = seeds_to_tell(found.effect, 0.05 / static_cast<double>(pairs));
  const double of_means = mean(one.sides.arm) / mean(one.sides.reference);
  return {one.arm->name,
          one.arm->role,
          Json::Array{shown.mean, shown.low, shown.high},
          ratios ? Json(of_means) : Json(),
          found.wins,
          found.seeds,
          one.sides.shared.size(),
          one.sides.either.size(),
          mean_over_seeds(one.sides.arm, measure, 0).mean,
          mean_over_seeds(one.sides.reference, measure, 0).mean,
          one.found.test.p,
          one.found.test.corrected,
          found.effect,
          takes > 0 ? Json(takes) : Json(),
          one.found.equal.p,
          one.found.equal.corrected,
          conclusion,
          guard};
}

std::string seeds_text(const std::vector<std::int64_t>& seeds) {
  return text(seeds.size() == 1 ? "seed " : "seeds ",
              join(texts_of(seeds, [](std::int64_t seed) { return text(seed); }), ", "));
}

std::string called(const Arm& arm) {
  return arm.role.empty() ? arm.name : text(arm.name, ", ", arm.role);
}

/// Adds notes on one arm: seeds without the number, not finished, or that fail.
void add_notes_of(const Arm& arm, const Measure& measure, std::vector<std::string>& notes) {
  const std::string name = called(arm);
  if (!arm.without.empty()) {
    notes.push_back(text(name, ": ", arm.seeds.size(), " of ",
                         arm.seeds.size() + arm.without.size(), " seeds have a value of ",
                         measure.name, "; ", seeds_text(arm.without),
                         arm.without.size() == 1 ? " has" : " have", " none"));
  }
  if (!arm.missing.empty()) {
    notes.push_back(
        text(name, ": ", seeds_text(arm.missing),
             arm.missing.size() == 1 ? " is not finished and is" : " are not finished and are",
             " left out"));
  }
  if (!arm.never.empty()) {
    notes.push_back(text(name, ": never emerges in ", arm.never.size(), " of ", arm.seeds.size(),
                         " seeds (", seeds_text(arm.never),
                         "); these seeds count as later than every scored step"));
  }
  if (!arm.at_first.empty()) {
    notes.push_back(text(name, ": emerges by step ", number_of(arm, arm.at_first[0]).value_or(0),
                         ", the first scored one, in ", seeds_text(arm.at_first),
                         "; the role may have emerged earlier"));
  }
  if (!arm.failed.empty()) {
    notes.push_back(
        text(name, ": ", seeds_text(arm.failed), arm.failed.size() == 1 ? " fails" : " fail",
             " (accuracy below that of the task in `headlab list tasks`, or at guessing); the mean "
             "then describes no typical run, so the test counts seeds"));
  }
}

/// Returns notes on facts that the means leave out or hide.
std::vector<std::string> notes_of(std::span<const Arm> arms, const std::vector<Comparison>& all,
                                  const Measure& measure) {
  std::vector<std::string> notes;
  for (const Arm& arm : arms) add_notes_of(arm, measure, notes);
  for (const Comparison& one : all) {
    const SideBySide& sides = one.sides;
    if (sides.shared.size() < sides.either.size()) {
      notes.push_back(text(sides.shared.size(), " of ", sides.either.size(),
                           sides.shared.size() == 1 ? " seeds is in " : " seeds are in ",
                           called(*one.arm),
                           " and in the reference. The comparison uses these seeds only; the means "
                           "of the arms use all their seeds"));
    }
  }
  return notes;
}

/// Returns the distinct names of arms. Error for two arms of one name and role, or fewer than two
/// names.
std::vector<std::string> names_of(std::span<const Arm> arms) {
  std::vector<std::string> names;
  for (const Arm& arm : arms) {
    const auto same = [&](const Arm& other) {
      return other.name == arm.name && other.role == arm.role;
    };
    require(std::ranges::count_if(arms, same) == 1, "cannot compare the arm ", arm.name,
            " with itself");
    if (std::ranges::count(names, arm.name) == 0) names.push_back(arm.name);
  }
  require(names.size() >= 2, "cannot compare a single arm: name two or more");
  return names;
}

}  // namespace

Result compare_arms(std::span<const Arm> arms, const CompareOptions& options) {
  const Measure& measure = find_measure(options.measure);
  const double margin = options.margin > 0 ? options.margin : measure.margin;
  require(measure.by != ratio || margin > 1,
          "cannot compare: --margin of ratios must be a factor above 1, got ", margin);
  const std::vector<std::string> names = names_of(arms);
  const std::string wanted = options.reference.empty() ? names[0] : options.reference;
  named("arm", wanted, arms, &Arm::name);  // Error if there is none
  const std::vector<Comparison> all = all_compared(arms, wanted, measure, margin);
  const auto asked = static_cast<std::size_t>(
      std::ranges::count_if(all, [](const Comparison& one) { return one.found.seeds() > 0; }));
  const std::string common = common_beginning(arms);
  Table table = comparisons_table(measure, wanted.substr(common.size()));
  Index most = 0;
  for (const Comparison& one : all) {
    most = std::max(most, one.found.seeds());
    table.rows.push_back(row_of(one, measure, asked, margin));
    if (one.sides.shared.size() == one.sides.either.size()) continue;
    table.column("mean").form = Form::automatic;
    table.column("reference_mean").form = Form::automatic;
  }
  table.note = text("Holm's correction covers ", asked,
                    asked == 1 ? " comparison. " : " comparisons. ", chance_text(most));
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
