// All pruning methods side by side on one model: loss against heads kept, how far each lies above
// the best subset there is, and what it cost. Heads are chosen on training examples and judged on
// held-out ones. The truth comes from two sides: exhaustive search says which subset is best, and
// the task says how many heads are needed and which head owns which relation. Read next:
// src/prune/curve.cc, report/curve_text.h.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "headlab/base/statistics.h"
#include "headlab/prune/prune.h"

namespace headlab {

struct CurveOptions {
  std::vector<std::string> methods{};  // by name; empty: all that need no training
  std::vector<Index> sizes{};          // heads kept; empty: every number from the fewest to all
  PruneSettings settings{};
  /// Examples on which models are judged; 0: the run's eval_examples. Time grows in proportion; the
  /// noise of the losses falls with the square root.
  Index judged = 0;
  bool test_split = false;    // judge on examples that nothing else has seen
  Index finetune = 0;         // steps of training after each removal: a training for each subset
  bool from_scratch = false;  // also train models that have these heads from the start
  Index draws = 8;            // of the method random, averaged
  /// Told before each method, and before each fine-tuning: what is done now.
  std::function<void(const std::string&)> progress{};
};

struct CurvePoint {
  Index kept = 0;
  std::vector<HeadId> heads;          // of the first draw
  Judged pruned{};                    // mean over draws
  std::optional<Judged> finetuned{};  // of the first draw
  /// As many heads in each module (its first ones) from the start; see train_from_scratch.
  std::optional<Judged> from_scratch{};
  double recall = 0;  // relations with an owner that still have one / relations with one
  /// Heads that can be matched with a relation of their own / heads: each relation in turn takes
  /// the first of its owners that no relation before it took.
  double precision = 0;
};

struct MethodCurve {
  std::string method;
  std::vector<CurvePoint> points{};  // by kept, ascending
  double area = 0;  // mean loss along the curve, by trapezoids over the share of heads kept
  std::optional<double> regret{};  // mean over sizes of loss - loss of the exhaustive choice
  double rank_correlation = 0;     // Spearman: how long a head is kept against its zero-ablation
  std::optional<Index> knee{};     // see knee_of
  PassCount cost{};
  double seconds = 0;
};

struct Curve {
  std::vector<std::string> attention;  // names of the attention modules: what HeadId::layer counts
  Index heads = 0;
  Index needed = 0;   // heads that the task needs, as it says; 0 where it does not
  Judged full, none;  // the model with all heads, and with none
  std::vector<std::pair<std::string, std::vector<HeadId>>> owners;  // by relation, all that own it
  std::vector<double> ablation;                                     // rise of the loss, by head
  std::vector<MethodCurve> methods;
};
Json to_json(const Curve& curve);

/// The fewest heads whose fine-tuned loss (without fine-tuning: loss) lies below full + 1% of (none
/// - full); none if there are no such.
std::optional<Index> knee_of(const MethodCurve& method, const Judged& full, const Judged& none);

/// Errors: those of choose_heads; an unknown method.
Curve prune_curve(const Run& run, const CurveOptions& options = {});

/// A point of a method's curve over several runs.
struct PointOverRuns {
  Index kept = 0;
  Interval pruned{};                                    // of the loss, mean +- 95%
  std::optional<Interval> finetuned{}, from_scratch{};  // where the curves have them
};

struct MethodOverRuns {
  std::string method;
  std::vector<PointOverRuns> points;
  Interval area{};
  std::optional<Interval> regret{};
  std::vector<std::optional<Index>> knees;  // of each run
};

/// Curves of runs that differ in their seeds, say: means with 95% intervals (Student's t).
struct CurveOverRuns {
  Index runs = 0, needed = 0;
  std::vector<MethodOverRuns> methods;
};
Json to_json(const CurveOverRuns& curve);

/// Errors: no curve; curves of different methods or sizes.
CurveOverRuns over_runs(std::span<const Curve> curves);

}  // namespace headlab
