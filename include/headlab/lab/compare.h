// Is one arm better than another, or is it chance? An arm is the same experiment with several
// seeds: runs, a group of a sweep, what a pruning method left in each of them. Arms are compared
// seed by seed with one that is named. Read next: base/comparison.h, src/lab/compare.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/base/comparison.h"
#include "headlab/kernels/scalar.h"

namespace headlab {

enum class Measure { loss, accuracy };

struct Arm {
  std::string name;
  std::vector<std::int64_t> seeds;
  std::vector<double> values{};  // by seed
};

/// The arms that a name stands for:
///   RUN                   a run, one seed
///   FOLDER                its runs
///   RUN+RUN+...           these
///   SWEEP/GROUP           the seeds of a group, as sweeps/knee/heads=4
///   SWEEP                 each of its groups
///   ...:METHOD@KEPT       of each of these runs what a method left, by curve.json: fine-tuned
///                         where it was, else as pruned; METHOD@KEPT:from_scratch is as many heads
///                         trained anew, METHOD@KEPT:pruned what was not fine-tuned yet
/// Errors: nothing there; two runs of one seed; no such curve, method or size.
std::vector<Arm> arms_of(const std::string& name, Measure measure);

struct CompareOptions {
  Measure measure = Measure::loss;
  std::string reference{};  // the name of an arm; "": the first
  /// With less between them two arms are equal: losses by a factor, accuracies by a difference. 0:
  /// 1.25 and .005.
  double margin = 0;
};
/// Losses as ratios, accuracies as differences, on the seeds that an arm shares with the reference.
/// Errors: fewer than two arms, two of one name, an unknown reference, no shared seed.
Finding compare_arms(std::span<const Arm> arms, const CompareOptions& options = {});

}  // namespace headlab
