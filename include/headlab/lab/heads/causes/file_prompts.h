// Named answers of many prompts. A line of the task `file` may name for a target another answer,
// `against`; eval, lens, attribution, patching and attention knockout then measure the quantity of
// named_answer.h at these targets: the logit of the target less that of the other answer. Read
// next: named_answer.h; src/lab/data/sequences_prompts.cc, which reads the lines.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/core/base/mean.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/causes/named_answer.h"
#include "headlab/lab/heads/causes/paired.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// The quantity at the targets of a file that name another answer.
inline constexpr const char* kAgainstQuantity = "logit of the target less that of `against`";

/// Returns the logit differences at the targets of some examples that have an answer in `against`
/// [B, T, K], -1 where there is none.
std::vector<Contrast> contrasts_against(const Batch& examples,
                                        std::span<const std::int32_t> against);

/// Means of one target, at one place of the residual stream or ("") of the whole model.
struct AgainstMeans {
  std::string place, target;
  PairedChange difference{};  // logit of the target less that of `against`, over targets
  Mean above{};               // share of targets at which it is above 0
};
/// A single target.
struct AgainstRow {
  Index example = 0, line = 0, position = 0;
  std::string place, target, answer, against;
  double difference = 0;
};

/// The targets of held-out examples for which their lines name another answer.
class AgainstTargets {
 public:
  /// Finds them among `examples`, the first held-out examples of a split, in their order. The task
  /// must outlive it.
  AgainstTargets(const Task& task, Split split, const Batch& examples);

  bool empty() const { return contrasts_.empty(); }
  const std::vector<Contrast>& contrasts() const { return contrasts_; }
  /// Adds `share` times the differences of a part of the examples, computed from its logits, to
  /// `values`, one for each target. `first` is the index of the part's first example.
  void add(const Tensor& logits, const Batch& part, Index first, double share,
           std::vector<double>& values) const;
  /// Returns the change of the mean from `before` to `after`, both a value for each target, with
  /// its interval over examples. k: index of the target, -1: all.
  PairedChange change(std::span<const double> after, std::span<const double> before,
                      Index k = -1) const;
  /// Returns the means of each target that occurs, and the single targets; `values` has one value
  /// for each.
  std::vector<AgainstMeans> means(std::span<const double> values, const std::string& place) const;
  std::vector<AgainstRow> rows(std::span<const double> values, const std::string& place) const;

 private:
  const Task& task_;
  Index examples_, length_, targets_;  // N, T, K
  std::vector<Contrast> contrasts_;
  std::vector<std::int32_t> lines_;  // by example
};

struct AgainstReport {
  std::vector<AgainstMeans> means{};
  std::vector<AgainstRow> rows{};

  /// Appends the means and the single targets of one place.
  void add(const AgainstTargets& targets, std::span<const double> values, const std::string& place);
};
/// Runs the model on the examples of `evaluate(model, task, options)`. Nothing if no line names
/// another answer.
AgainstReport read_against(const Model& model, const Task& task, const EvaluateOptions& options);

/// Returns the table "against". `by_place`: with the place of each row.
Table against_table(const std::vector<AgainstMeans>& means, bool by_place);
/// Name of the table of single targets.
inline constexpr const char* kSingleAgainst = "single_against";
Fields<AgainstRow> single_against_fields(bool by_place = false);
Table single_against_table(const std::vector<AgainstRow>& rows, bool by_place);
/// Returns a table of single targets. Error if it has no row: no line names another answer.
Table with_rows(Table table);

}  // namespace headlab
