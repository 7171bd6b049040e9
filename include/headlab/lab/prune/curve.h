// Comparison of all pruning methods on one model: loss against heads kept, distance from the best
// subset, and cost. Heads are chosen on training examples and evaluated on held-out ones. Two
// references exist: exhaustive search finds the best subset, and the task defines how many heads
// are needed and which head owns which relation. Read next: src/lab/prune/curve.cc, over_runs.cc.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "headlab/lab/prune/prune.h"
#include "headlab/lab/results/arms.h"
#include "headlab/lab/runs/jobs.h"

namespace headlab {

struct CurvePoint {
  Index kept = 0;
  std::vector<HeadId> heads;  // heads kept in the first draw
  Judged pruned{};            // mean over the draws
  /// Loss with these heads alone on the choosing examples, in the first draw. The best subset there
  /// need not be the best on held-out examples. Empty if the method trained weights.
  std::optional<double> chosen_on{};
  std::optional<Judged> finetuned{};  // fine-tuned model of the first draw
  /// Model with as many heads in each attention layer (its first ones) from the start, on the same
  /// schedule as the fine-tuned model, including its restarts; see train_from_scratch.
  std::optional<Judged> from_scratch{};
  /// Model with all heads, trained further by the same stages as the fine-tuned one: a gain or loss
  /// that it shows too is not due to pruning. Empty if no training follows that of the run.
  std::optional<Judged> unpruned{};
  double recall = 0;  // share of the relations with an owner that still have one; NaN without any
  std::optional<Index> owned{};  // number of relations with an owner; missing in older curves
  /// Share of the kept heads that can be matched with a relation of their own: each relation in
  /// turn takes the first of its owners that no earlier relation has taken. NaN if no head is kept.
  double precision = 0;

  void members(auto&& f) {
    pruned.members(f);
    f("kept", kept), f("heads", heads), f("choosing_loss", chosen_on), f("recall", recall);
    f("owned", owned), f("precision", precision), f("finetuned", finetuned),
        f("from_scratch", from_scratch);
    f("unpruned", unpruned);
  }
};

struct MethodCurve {
  std::string method;
  std::vector<CurvePoint> points{};  // ascending by kept
  /// Mean loss along the curve, by trapezoids over the share of heads kept; NaN for a single size.
  double area = 0;
  /// Mean over sizes of the loss minus that of the exhaustive choice, both held out. That choice is
  /// the best on the choosing examples; if another is better on held-out ones, this is below 0.
  std::optional<double> regret{};
  std::optional<Index> sizes{};  // number of sizes over which `regret` is a mean
  double rank_correlation =
      0;  // Spearman correlation between the order of removal and zero-ablation
  std::optional<Index> used{};    // heads used, see used_heads
  std::optional<Index> needed{};  // see needed_heads
  /// The fewest and the most heads that `used` and `needed` can be, if the sizes that were tried
  /// leave it open: {5, 8}. `used` and `needed` are empty then.
  std::optional<std::vector<Index>> used_bounds{}, needed_bounds{};
  std::string guard{};  // name of the guard that refused `used` or `needed`; "" if none did
  /// Training steps of each fine-tuned model, and of each model from scratch: the run's, those of
  /// gates and of fine-tuning.
  std::optional<Index> steps{};  // empty if none was trained
  /// Schedule of the fine-tuned models, those from scratch and the unpruned one: schedule_text.
  std::optional<std::string> schedule{};  // empty if none was trained
  PassCount cost{};
  double seconds = 0;

  void members(auto&& f) {
    f("method", method), f("area", area), f("regret", regret), f("sizes", sizes);
    f("rank_correlation", rank_correlation), f("used", used), f("needed", needed),
        f("used_bounds", used_bounds), f("needed_bounds", needed_bounds), f("guard", guard),
        f("steps", steps), f("schedule", schedule);
    f("sequences_forward", cost.forward), f("sequences_backward", cost.backward);
    f("seconds", seconds), f("points", points);
  }
};

/// Loss for every subset of the heads, with the others ablated, on the held-out examples that are
/// used for ablation.
struct SubsetTable {
  std::vector<HeadId> heads;
  Index examples = 0;
  /// Losses [2^heads], nats per target: if bit h of the index is set, heads[h] is kept.
  std::vector<double> losses;
  std::string kind = "zero";  // kind of ablation

  void members(auto&& f) {
    f("heads", heads), f("examples", examples), f("kind", kind), f("losses", losses);
  }
};
/// Evaluates all subsets. Time and memory grow with 2^heads; `examples` is a maximum.
SubsetTable judge_all_subsets(const Transformer& model, const Task& task, Index examples = 512);

struct Curve {
  std::string task;  // as in Task::spec
  std::vector<std::string>
      attention;  // names of the attention layers, which HeadId::attention_layer indexes
  Index heads = 0;
  std::optional<Index> needed{};      // number of heads that the task needs, if it is known
  Judged full, none;                  // all heads kept; no heads kept
  std::optional<bool> at_guessing{};  // whether the unpruned model is at guessing
  Json owners = Json::object();       // the owners of each relation that has any
  std::vector<double> ablation;       // by head, increase of the loss if it is ablated
  std::vector<MethodCurve> methods;
  /// All subsets, if an exhaustive search was made, over at most 12 heads.
  std::optional<SubsetTable> subsets{};

  void members(auto&& f) {
    f("task", task), f("attention", attention), f("heads", heads), f("needed", needed);
    f("full", full), f("none", none), f("at_guessing", at_guessing), f("owners", owners),
        f("ablation", ablation);
    f("methods", methods), f("subsets", subsets);
  }
};
Result result_of(const Curve& curve);
Json to_json(const Curve& curve);

struct CurveOptions {
  std::vector<std::string> methods{};  // names of methods; empty: all that need no training
  std::vector<Index> sizes{};          // heads kept; empty: every number from the fewest to all
  PruneSettings settings{};
  /// Held-out examples on which models are evaluated; 0: the run's eval_examples. Time is
  /// proportional; the noise of the losses falls with the square root.
  Index judged = 0;
  bool test_split = false;  // evaluate on examples that nothing else has used
  Index finetune = 0;  // training steps after each removal, which means one training per subset
  /// Whether to train models with as many heads from the start too, on the schedule of the run and
  /// its fine-tuning.
  bool from_scratch = false;
  Index draws = 8;    // number of random orders to average (method `random`)
  Keeping keeping{};  // storage of the parts: facts about the run, each method, each training
  /// Called before each method and each training with a description of it.
  std::function<void(const std::string&)> progress{};
};

/// Returns the table of settings, bound to `options`, which must outlive it.
Settings settings_of(CurveOptions& options);

/// Return two different measures. Heads used: the fewest heads that keep the loss of the model
/// without further training, loss <= full + 1% of (none - full). A large model may use more heads
/// than a task needs. Heads needed: the fewest heads with which the model, after fine-tuning, ends
/// as low as the unpruned one trained for as long, within the same 1%. Empty if there are no such
/// heads; heads needed is also empty if nothing was fine-tuned.
std::optional<Index> used_heads(const MethodCurve& method, const Judged& full, const Judged& none);
std::optional<Index> needed_heads(const MethodCurve& method, const Judged& none);
/// Fills used, needed, their bounds and the guard of a method. `fewest`: the smallest size that can
/// be tried. Nothing is used or needed if the model is at guessing. A number is exact if the next
/// smaller size was tried too.
void conclude(MethodCurve& method, const Curve& about, Index fewest);
/// Returns "greedy uses 5 to 8 of 8 heads (tried: 4, 8)" and similar, a line for each method and
/// number that is refused; "" if there is none.
std::string refused_text(const Curve& curve);
inline constexpr const char* kUsedHeads =
    "fewest heads whose loss, without fine-tuning, rises by at most 1% of the rise when all heads "
    "are removed";
inline constexpr const char* kNeededHeads =
    "fewest heads whose loss after fine-tuning is at most that of the unpruned model trained as "
    "long, plus the same 1%";

/// Returns the names of the methods of a curve of this model.
std::vector<std::string> curve_methods(const Transformer& model, const CurveOptions& options);
/// Returns the jobs of which curves of these runs consist; they can run in parallel if
/// options.keeping stores them.
std::vector<Job> curve_jobs(const std::vector<std::filesystem::path>& runs,
                            const CurveOptions& options);
/// Computes the curve of a run. Errors: those of choose_heads; an unknown method. Throws Stopped.
Curve prune_curve(const Run& run, const CurveOptions& options = {});

// ---- over several runs, of different seeds for instance

/// Point of a method's curve over several runs. Losses are geometric means.
struct PointOverRuns {
  Index kept = 0;
  Interval pruned{};
  std::optional<Interval> finetuned{}, from_scratch{}, unpruned{};  // empty if the curves have none
  /// Logarithm of the ratio of the loss after removal to that of the method with the lowest mean at
  /// this size, run by run: methods are evaluated on the same models and examples. p is
  /// p_of_picked, so the best may be picked afterwards; empty for the best itself.
  std::optional<Compared> against_best{};
  /// Same logarithm for the fine-tuned loss compared with the loss from scratch, trained on the
  /// same schedule, and with the unpruned model, trained further by the same stages.
  std::optional<Compared> against_scratch{}, against_unpruned{};
};
/// Returns the point as JSON, without empty members.
Json to_json(const PointOverRuns& point);

struct MethodOverRuns {
  std::string method;
  Index runs = 0;  // over which its means are taken
  std::vector<PointOverRuns> points;
  Interval area{};
  std::optional<Interval> regret{};
  std::vector<std::optional<Index>> used;    // heads used, one per run
  std::vector<std::optional<Index>> needed;  // heads needed, one per run
  std::optional<Index> steps{};              // MethodCurve::steps of the first run
  std::optional<std::string> schedule{};     // MethodCurve::schedule of the first run
};

Json to_json(const MethodOverRuns& method);

struct CurveOverRuns {
  Index runs = 0;
  std::optional<Index> needed{};
  std::vector<MethodOverRuns> methods;
};
Json to_json(const CurveOverRuns& curve);

/// Aggregates curves. Errors: no curve; curves of different tasks, methods or sizes.
CurveOverRuns over_runs(std::span<const Curve> curves);
/// Returns the tables of several curves: means for each method and size, each method, and a row for
/// each run.
std::vector<Table> curve_tables(std::span<const Curve> curves,
                                const std::vector<std::string>& runs);

}  // namespace headlab
