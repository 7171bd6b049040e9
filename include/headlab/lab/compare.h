// Is one arm better than another, or is it chance? An arm is the same experiment with several
// seeds: runs, a group of a sweep, what a pruning method left in each of them. Arms are compared
// seed by seed with one that is named. Read next: base/comparison.h, src/lab/studies/compare.cc.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/comparison.h"
#include "headlab/kernels/scalar.h"

namespace headlab {

/// What a pruning method left of a run, by its curve.json, or the method's whole curve.
struct Pruned {
  std::string method, stage{};
  std::optional<Index> kept{};
};

/// The step at which a role emerges in a run: the first scored step at which the lift of its head
/// reaches half of its last value.
struct Emergence {
  std::string role{};
  Index step = 0;         // if it never emerges, the last scored step
  bool never = false;     // it emerges after `step`, if at all
  bool at_first = false;  // `step` is the first scored one: it emerged by then
};

/// What arms are compared by.
struct Measure {
  const char *name, *meaning;
  enum class By { ratio, difference, share_difference } by;
  /// With less between them two arms are equal: a factor above 1, or a difference.
  double margin;
  /// The least and the most that a run can reach.
  double least, most;
  /// Of one run; none where the run has no such number. Errors: what it is read from is not there;
  /// a method that the measure does not ask for, or the reverse.
  std::optional<double> (*of)(const std::filesystem::path& run, const std::optional<Pruned>&);
  /// In place of `of`: a number for each role, and arms are compared role by role.
  std::vector<Emergence> (*by_role)(const std::filesystem::path& run,
                                    const std::optional<Pruned>&) = nullptr;
};
std::span<const Measure> measures();
/// Error for an unknown one, with the nearest name.
const Measure& find_measure(std::string_view name);

struct Arm {
  std::string name;
  std::vector<std::int64_t> seeds;      // of the runs that have the number
  std::vector<double> values{};         // by seed
  std::vector<std::int64_t> without{};  // seeds whose run has no such number, as heads used
  std::vector<std::int64_t> missing{};  // seeds of a sweep whose run is not finished
  std::string role{};                   // whose emergence the values are; "" for other measures
  /// Seeds in which the role never emerges: their value is the last scored step.
  std::vector<std::int64_t> never{};
  /// Seeds in which it is there at the first scored step, which is their value.
  std::vector<std::int64_t> at_first{};
  double targets = 0;  // that the accuracy of a run is over; 0 if that is not known
};

/// The runs of a place: RUN, FOLDER, RUN+RUN or SWEEP/GROUP, as below. Error where there is none.
std::vector<std::filesystem::path> runs_at(const std::string& place);

/// The arms that a name stands for:
///   RUN                   a run, one seed
///   FOLDER                its runs
///   RUN+RUN+...           these
///   SWEEP/GROUP           the seeds of a group, as sweeps/knee/heads=4
///   SWEEP                 each of its groups
///   ...:METHOD@KEPT       of each of these runs what a method left, by curve.json: fine-tuned
///                         where it was, else as pruned; METHOD@KEPT:from_scratch is as many heads
///                         trained anew, METHOD@KEPT:pruned what was not fine-tuned yet
///   ...:METHOD            the method's curve as a whole, for measures of curves
/// A measure by role has an arm for each role of each of these, all of the same name. Errors:
/// nothing there; two runs of one seed; no such curve, method or size.
std::vector<Arm> arms_of(const std::string& name, const Measure& measure);

struct CompareOptions {
  std::string measure = "loss";  // the name of a row of measures()
  std::string reference{};       // the name of an arm; "": the first
  double margin = 0;             // in place of the measure's own, if it is not 0
};
/// Compares each arm with the reference on the seeds that both have; the means next to a comparison
/// are over these seeds. Arms of roles are compared with the reference's arm of the same role. One
/// test decides, sign_flip_p of the differences, and for equality equal_p; each is corrected by
/// Holm for all arms. The verdict says in how many seeds an arm is lower. Seeds that fail (see
/// fails) and roles that never emerge are named. The order of two emergences is used only if it is
/// known: a role that never emerges is later than any that does by the last scored step. If runs of
/// shared seeds lack the number and one arm has more of them, that is the verdict: such arms are
/// never called equal. `notes` of the result names seeds that only one arm has, that lack the
/// number, that fail, or that are not finished. Errors: fewer than two arms, two of one name, an
/// unknown measure or reference, no shared seed.
Finding compare_arms(std::span<const Arm> arms, const CompareOptions& options = {});
/// The seeds of an arm that fail: whose loss is more than kFailedTimes the median of the arm, or
/// whose share is more than kFailedShare below it. Other measures and fewer than 3 seeds have none.
std::vector<std::int64_t> failing_seeds(const Arm& arm, const Measure& measure);
inline constexpr double kFailedTimes = 10, kFailedShare = 0.1;

}  // namespace headlab
