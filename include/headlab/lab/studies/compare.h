// Comparison of arms: is one better than another, or is the difference chance? An arm is the same
// experiment with several seeds: runs, a group of a sweep, or the models that a pruning method made
// from them. Arms are compared seed by seed with a reference arm. Read next:
// lab/results/arms.h, src/lab/studies/compare.cc.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/kernels/scalar.h"
#include "headlab/lab/results/arms.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Model that a pruning method made from a run, as recorded in curve.json, or the method's whole
/// curve.
struct Pruned {
  std::string method, stage{};
  std::optional<Index> kept{};
};

/// Emergence step of a role in a run: the first scored step at which the lift of its head reaches
/// half of its last value.
struct Emergence {
  std::string role{};
  Index step = 0;         // if it never emerges, the last scored step
  bool never = false;     // emerges after `step` or not at all
  bool at_first = false;  // `step` is the first scored step: the role has emerged by then
};

/// Quantity by which arms are compared.
struct Measure {
  const char *name, *meaning;
  enum class By { ratio, difference, share_difference } by;
  /// Margin of equality, a factor above 1 or a difference: arms that differ by less are equal.
  double margin;
  /// Smallest and largest possible value for a run.
  double least, most;
  /// Returns the value for one run; empty if the run has no such number. Errors: its source is
  /// missing; a method that the measure does not use, or no method if it needs one.
  std::optional<double> (*of)(const std::filesystem::path& run, const std::optional<Pruned>&);
  /// Alternative to `of`: returns a number for each role, and arms are compared role by role.
  std::vector<Emergence> (*by_role)(const std::filesystem::path& run,
                                    const std::optional<Pruned>&) = nullptr;
  /// Whether it measures what a model reaches, so that seeds can fail.
  bool can_fail = false;
};
std::span<const Measure> measures();
/// Returns the measure of this name. Error for an unknown one, with the nearest name.
const Measure& find_measure(std::string_view name);

/// Condition under which the runs of an arm were made, such as the setting "steps".
struct ArmCondition {
  std::string name, value;
  /// Whether arms with other values cannot be compared: they answer other questions.
  bool must_match = false;
  bool is_setting = false;  // whether it is a setting of runs
};

struct Arm {
  std::string name;
  std::vector<std::int64_t> seeds;      // seeds of the runs that have a value
  std::vector<double> values{};         // one per seed
  std::vector<std::int64_t> without{};  // seeds whose run has no such value, such as heads used
  std::vector<std::int64_t> missing{};  // seeds of a sweep whose run is not finished
  std::string role{};  // role whose emergence the values are; "" for other measures
  /// Seeds in which the role never emerges: their value is the last scored step.
  std::vector<std::int64_t> never{};
  /// Seeds in which the role is present at the first scored step, which is their value.
  std::vector<std::int64_t> at_first{};
  double targets = 0;  // number of targets in the accuracy of a run; 0 if unknown
  /// Seeds that fail (seed_fails in sweep.h), and seeds whose model is at guessing; only for the
  /// measures loss and accuracy of runs.
  std::vector<std::int64_t> failed{}, at_guessing{};
  std::vector<ArmCondition> conditions{};
  std::string sweep{};  // folder of the sweep of which the arm is a group; "" for other arms
};

/// Returns the runs of RUN, FOLDER, RUN+RUN or SWEEP/GROUP, as below. Error if there is none.
std::vector<std::filesystem::path> runs_at(const std::string& place);

/// Returns the arms of a name:
///   RUN                   a run, one seed
///   FOLDER                its runs
///   RUN+RUN+...           these runs
///   SWEEP/GROUP           the seeds of a group, as sweeps/knee/heads=4
///   SWEEP                 each of its groups
///   ...:METHOD@KEPT       the model of a method, for each of these runs, from curve.json:
///   fine-tuned
///                         if it was, else as pruned; METHOD@KEPT:from_scratch is the model trained
///                         from scratch with as many heads, METHOD@KEPT:pruned the model before
///                         fine-tuning
///   ...:METHOD            the method's curve as a whole, for measures of curves
/// A measure by role has an arm for each role of each of these, all with the same name. Errors:
/// nothing found; two runs of one seed; no such curve, method or size.
std::vector<Arm> arms_of(const std::string& name, const Measure& measure);

struct CompareOptions {
  std::string measure = "loss";  // name of a row of measures()
  std::string reference{};       // name of an arm; "": the first
  double margin = 0;             // replaces the measure's own margin if it is not 0
};
/// Compares each arm with the reference on the seeds that both have; the means of a comparison are
/// over these seeds. Arms of roles are compared with the reference's arm of the same role. The test
/// is sign_flip_p of the differences, or, if a seed of either arm fails, sign_test_p, and equal_p
/// for equality; one Holm correction covers both tests of all arms, and no p is multiplied by more
/// than their number. The conclusion first counts seeds that fail, then reports in how many seeds
/// an arm is lower. It names roles that never emerge. The order of two emergences is used only if
/// it is known: a role that never emerges is later than any that emerges by the last scored step.
/// If runs of shared seeds lack the value and one arm has more of them, that is the conclusion:
/// such arms are never called equal, and neither are arms with failing seeds or at guessing. Arms
/// of another task or other test data are not compared; other conditions that differ are named.
/// `notes` of the result names seeds that only one arm has, that lack the value, that fail, or that
/// are not finished. Errors: fewer than two arms, two of one name, an unknown measure or reference,
/// no shared seed.
Result compare_arms(std::span<const Arm> arms, const CompareOptions& options = {});
/// Returns the mean of an arm over its seeds with its interval, as compare_arms states it.
Interval mean_of_arm(const Arm& arm, const Measure& measure);

}  // namespace headlab
