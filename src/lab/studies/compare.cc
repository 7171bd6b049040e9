// Comparison of arms seed by seed. It uses one test for all measures and one correction for both
// tests of all arms, and the conclusion reports the number of seeds in which an arm is lower. Read
// next: headlab/lab/studies/compare.h, arms.cc.
#include "headlab/lab/studies/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/fields.h"
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

/// Adds the name of the arm of a row. Text shows it without the prefix `common` of all names;
/// programs get it in full.
template <class Row, class Name>
void add_arm(Fields<Row>& fields, const std::string& common, Name name) {
  fields.add(Column("arm", "arm").no_legend().hidden_unless(common.empty()), name);
  if (common.empty()) return;
  fields.add(Column("shown", "arm").no_legend(),
             [=](const Row& row) { return std::invoke(name, row).substr(common.size()); });
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

Table arms_table(std::span<const Arm> arms, const Measure& measure, const std::string& common) {
  const bool by_role = measure.by_role != nullptr;
  const bool some_lack =
      std::ranges::any_of(arms, [](const Arm& arm) { return !arm.without.empty(); });
  Fields<Arm> fields;
  add_arm(fields, common, &Arm::name);
  fields.add(Column("role", "role").no_legend().hidden_unless(by_role), &Arm::role);
  fields.add(Column("seeds", "seeds", "runs of the mean").no_legend(),
             [](const Arm& arm) { return arm.seeds.size(); });
  fields.add(Column("without", "without", "runs without a value; they are not in the mean")
                 .hidden_unless(some_lack),
             [](const Arm& arm) { return arm.without.size(); });
  fields.add(
      Column("never", "never", "runs in which the role never emerges").hidden_unless(by_role),
      [](const Arm& arm) { return arm.never.size(); });
  fields.add(Column("at_first", "at first", "runs whose role is present at the first scored step")
                 .hidden_unless(by_role),
             [](const Arm& arm) { return arm.at_first.size(); });
  fields.add(interval_column(measure.name, measure.name,
                             measure.meaning + how_means_are_made(measure)),
             [&](const Arm& arm) {  // empty if no run has such a number
               return arm.values.empty() ? std::nullopt : std::optional(mean_of_arm(arm, measure));
             });
  return fields.table({.name = "arms", .title = common.empty() ? "" : "arms of " + common}, arms);
}

/// A seed of an arm, with its value if the run has one.
struct SeedOfArm {
  std::string arm, role;
  std::int64_t seed;
  std::optional<double> value;
};

Table seeds_table(std::span<const Arm> arms, const Measure& measure) {
  std::vector<SeedOfArm> seeds;
  for (const Arm& arm : arms) {
    for (const std::int64_t seed : seeds_of(arm)) {
      seeds.push_back({arm.name, arm.role, seed, number_of(arm, seed)});
    }
  }
  Fields<SeedOfArm> fields;
  fields.add({"arm", "arm"}, &SeedOfArm::arm);
  fields.add({"role", "role"}, &SeedOfArm::role);
  fields.add({"seed", "seed"}, &SeedOfArm::seed);
  fields.add({measure.name, measure.name}, &SeedOfArm::value);
  return fields.table({.name = "seeds", .shown = false}, seeds);
}

/// Facts that the table of comparisons needs besides its rows.
struct Asked {
  const Measure& measure;
  std::string reference;  // name of the arm that the others are compared with
  std::string common;     // prefix of all names
  double margin;
  std::size_t pairs;       // compared arms, for which p is corrected
  bool has_unequal_seeds;  // of some arm and the reference
};

/// Returns a function for the cells of numbers that only compared arms have.
template <class Get>
auto if_compared(Get get) {
  return [get](const Comparison& one) {
    return one.found.seeds() == 0 ? Json() : cell_of(std::invoke(get, one));
  };
}

/// Adds the difference of an arm from the reference, or its ratio.
void add_difference(Fields<Comparison>& fields, const Asked& asked) {
  const Measure& measure = asked.measure;
  const bool ratios = measure.by == ratio;
  const bool by_role = measure.by_role != nullptr;
  const std::string reference = asked.reference.substr(asked.common.size());
  const Column difference =
      ratios ? interval_column("ratio", "times " + reference)
             : interval_column("difference", "less " + reference).shown_as(Form::signed_number);
  fields.add(difference.no_legend(), if_compared([&measure, ratios](const Comparison& one) {
               const Interval& found = one.found.difference.difference;
               const double range = measure.most - measure.least;  // no difference is larger
               return ratios ? exp_of(found) : within(found, -range, range);
             }));
  fields.add(Column("ratio_of_means", "of means",
                    "ratio of the arithmetic means, which failed seeds dominate")
                 .hidden_unless(ratios && !by_role),
             if_compared([ratios](const Comparison& one) {
               const double of_means = mean(one.sides.arm) / mean(one.sides.reference);
               return ratios ? std::optional(of_means) : std::nullopt;
             }));
}

/// Adds the seeds of a comparison, and the means over them.
void add_seeds(Fields<Comparison>& fields, const Asked& asked) {
  const Measure& measure = asked.measure;
  fields.add({"wins", measure.by_role != nullptr ? "earlier" : "lower",
              "number of seeds in which this arm is lower than the reference"},
             [](const Comparison& one) { return one.found.difference.wins; });
  fields.add(Column("seeds", "of", "number of seeds in which both arms have a value").no_legend(),
             [](const Comparison& one) { return one.found.seeds(); });
  fields.add(Column("shared_seeds", "shared").hidden(),
             [](const Comparison& one) { return one.sides.shared.size(); });
  fields.add(Column("seeds_of_either", "of either").hidden(),
             [](const Comparison& one) { return one.sides.either.size(); });
  fields.add(Column("mean", "mean", "mean of the arm over the compared seeds")
                 .hidden_unless(asked.has_unequal_seeds),
             if_compared([&measure](const Comparison& one) {
               return mean_over_seeds(one.sides.arm, measure, 0).mean;
             }));
  fields.add(Column("reference_mean", "reference", "mean of the reference over the same seeds")
                 .hidden_unless(asked.has_unequal_seeds),
             if_compared([&measure](const Comparison& one) {
               return mean_over_seeds(one.sides.reference, measure, 0).mean;
             }));
}

/// Adds both tests of a comparison.
void add_tests(Fields<Comparison>& fields, const Asked& asked) {
  const auto add = [&](const Column& column, auto get) { fields.add(column, if_compared(get)); };
  add(Column("p", "p").hidden(), [](const Comparison& one) { return one.found.test.p; });
  add({"p_holm", "p",
       "two-sided, by flipping signs of seeds, with one Holm correction for the differences and "
       "the equalities of all arms"},
      [](const Comparison& one) { return one.found.test.corrected; });
  add(Column("effect_size", "effect",
             "mean of the differences (of ratios: of logarithms) / their standard deviation")
          .fixed(2),
      [](const Comparison& one) { return one.found.difference.effect; });
  add({"seeds_to_tell", "takes",
       "number of seeds needed to detect this effect with a power of 0.8"},
      [pairs = asked.pairs](const Comparison& one) {
        const Index takes =
            seeds_to_tell(one.found.difference.effect, 0.05 / static_cast<double>(pairs));
        return takes > 0 ? std::optional(takes) : std::nullopt;
      });
  add(Column("p_equal", "p of equal").hidden(),
      [](const Comparison& one) { return one.found.equal.p; });
  add(Column("p_equal_holm", "Holm's p of equal").hidden(),
      [](const Comparison& one) { return one.found.equal.corrected; });
}

Table comparisons_table(const std::vector<Comparison>& all, const Asked& asked) {
  const bool by_role = asked.measure.by_role != nullptr;
  Fields<Comparison> fields;
  add_arm(fields, asked.common, [](const Comparison& one) { return one.arm->name; });
  fields.add(Column("role", "role").no_legend().hidden_unless(by_role),
             [](const Comparison& one) { return one.arm->role; });
  add_difference(fields, asked);
  add_seeds(fields, asked);
  add_tests(fields, asked);
  fields.add({"verdict", "conclusion",
              text(by_role ? "earlier or later" : "lower or higher",
                   " if p < 0.05, with the number of seeds; equal by two one-sided tests within "
                   "the margin, in the same correction")},
             [&](const Comparison& one) {
               return conclusion_of(one, asked.measure, asked.margin, asked.pairs);
             });
  fields.add(Column("guard", "guard", "the guard that refused a conclusion").hidden(),
             [&](const Comparison& one) { return guard_of(one, asked.pairs); });
  return fields.table({.name = "comparisons"}, all);
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
  Index most = 0;
  for (const Comparison& one : all) most = std::max(most, one.found.seeds());
  const bool has_unequal_seeds = std::ranges::any_of(all, [](const Comparison& one) {
    return one.sides.shared.size() != one.sides.either.size();
  });
  const std::string common = common_beginning(arms);
  Table table = comparisons_table(all, {measure, wanted, common, margin, asked, has_unequal_seeds});
  table.note = text("Holm's correction covers ", asked,
                    asked == 1 ? " comparison. " : " comparisons. ", chance_text(most));
  Json notes = Json::array();
  for (std::string& one : notes_of(arms, all, measure)) notes.push_back(std::move(one));
  return {.about = stamped({{"measure", measure.name},
                            {"reference", wanted},
                            {"margin", margin},
                            {"notes", std::move(notes)}}),
          .tables = {arms_table(arms, measure, common), std::move(table),
                     seeds_table(arms, measure)}};
}

}  // namespace headlab
