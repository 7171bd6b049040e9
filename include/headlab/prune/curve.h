// All pruning methods side by side on one model: loss against heads kept, how far each lies above
// the best subset, and what it cost. Heads are chosen on training examples and judged on held-out
// ones. The truth has two sources: exhaustive search says which subset is best, and the task says
// how many heads are needed and which head owns which relation. Read next: src/lab/prune/curve.cc,
// over_runs.cc.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "headlab/base/comparison.h"
#include "headlab/prune/prune.h"
#include "headlab/train/cells.h"

namespace headlab {

struct CurvePoint {
  Index kept = 0;
  std::vector<HeadId> heads;  // of the first draw
  Judged pruned{};            // mean over draws
  /// Loss with these heads alone on the choosing examples, of the first draw: the best subset there
  /// need not be the best on held-out ones. None where the method trained weights.
  std::optional<double> chosen_on{};
  std::optional<Judged> finetuned{};  // of the first draw
  /// As many heads in each module (its first ones) from the start, on the same schedule as the
  /// fine-tuned model, its restarts included; see train_from_scratch.
  std::optional<Judged> from_scratch{};
  /// The model with all its heads, trained on by the same stages as the fine-tuned one: a cost or
  /// gain that it has too is none of pruning. Where there is no training after the run's, there is
  /// none.
  std::optional<Judged> unpruned{};
  double recall = 0;  // share of the relations with an owner that still have one
  /// Share of the heads kept that can be matched with a relation of their own: each relation in
  /// turn takes the first of its owners that no earlier relation has taken.
  double precision = 0;

  void members(auto&& f) {
    pruned.members(f);
    f("kept", kept), f("heads", heads), f("choosing_loss", chosen_on), f("recall", recall);
    f("precision", precision), f("finetuned", finetuned), f("from_scratch", from_scratch);
    f("unpruned", unpruned);
  }
};

struct MethodCurve {
  std::string method;
  std::vector<CurvePoint> points{};  // by kept, ascending
  /// Mean loss along the curve, by trapezoids over the share of heads kept; NaN of a single size.
  double area = 0;
  /// Mean over sizes of the loss minus that of the exhaustive choice, both held out. That choice is
  /// the best on the choosing examples; on held-out ones another may be better: then this is below
  /// 0.
  std::optional<double> regret{};
  double rank_correlation = 0;    // Spearman, of how long a head is kept with its zero-ablation
  std::optional<Index> knee{};    // heads used, see used_heads
  std::optional<Index> needed{};  // see needed_heads
  /// Of training for each model that was fine-tuned, and as many for those from scratch: the
  /// run's, those of gates and of fine-tuning.
  std::optional<Index> steps{};  // older files do not say
  /// How the fine-tuned models, those from scratch and the unpruned one were trained:
  /// schedule_text.
  std::optional<std::string> schedule{};  // older files do not say
  PassCount cost{};
  double seconds = 0;

  void members(auto&& f) {
    f("method", method), f("area", area), f("regret", regret);
    f("rank_correlation", rank_correlation), f("knee", knee), f("needed", needed),
        f("steps", steps), f("schedule", schedule);
    f("sequences_forward", cost.forward), f("sequences_backward", cost.backward);
    f("seconds", seconds), f("points", points);
  }
};

/// The loss with every subset of the heads, the others silenced, on the held-out examples on which
/// ablations are judged.
struct SubsetTable {
  std::vector<HeadId> heads;
  Index examples = 0;
  /// [2^heads], nats per target: bit h of the index means that heads[h] stays.
  std::vector<double> losses;
  std::string kind = "zero";  // of their ablation

  void members(auto&& f) {
    f("heads", heads), f("examples", examples), f("kind", kind), f("losses", losses);
  }
};
/// Time and memory grow with 2^heads; `examples` are judged at most.
SubsetTable judge_all_subsets(const Transformer& model, const Task& task, Index examples = 512);

struct Curve {
  std::string task;                    // as Task::spec says it
  std::vector<std::string> attention;  // names of the attention modules: what HeadId::module counts
  Index heads = 0;
  std::optional<Index> needed{};  // heads that the task needs, where it says so
  Judged full, none;              // the model with all heads, and with none
  Json owners = Json::object();   // of each relation that has any, heads
  std::vector<double> ablation;   // by head, rise of the loss if it is silenced
  std::vector<MethodCurve> methods;
  /// Where an exhaustive search was made, over at most 12 heads.
  std::optional<SubsetTable> subsets{};

  void members(auto&& f) {
    f("task", task), f("attention", attention), f("heads", heads), f("needed", needed);
    f("full", full), f("none", none), f("owners", owners), f("ablation", ablation);
    f("methods", methods), f("subsets", subsets);
  }
};
Finding finding_of(const Curve& curve);
Json to_json(const Curve& curve);

struct CurveOptions {
  std::vector<std::string> methods{};  // by name; empty: all that need no training
  std::vector<Index> sizes{};          // heads kept; empty: every number from the fewest to all
  PruneSettings settings{};
  /// Held-out examples on which models are judged; 0: the run's eval_examples. Time grows in
  /// proportion; the noise of the losses falls with the square root.
  Index judged = 0;
  bool test_split = false;  // judge on examples that nothing else has seen
  Index finetune = 0;       // steps of training after each removal: a training for each subset
  /// Also train models that have as many heads from the start, on the schedule of the run and its
  /// fine-tuning.
  bool from_scratch = false;
  Index draws = 8;    // of the method random, averaged
  Keeping keeping{};  // of its parts: what is true of the run, each method, each training
  /// Called before each method and each training with what is done now.
  std::function<void(const std::string&)> progress{};
};

/// The table of settings, bound to `options`, which must outlive it.
Settings settings_of(CurveOptions& options);

/// Two measures with two names. Heads used: the fewest heads that keep the loss of the model
/// without any more training, loss <= full + 1% of (none - full). A large model may use more heads
/// than a task needs. Heads needed: the fewest heads with which the model, after fine-tuning, ends
/// as low as the unpruned one that was trained on as long, by the same 1%. None if there are no
/// such heads, or for heads needed if nothing was fine-tuned.
std::optional<Index> used_heads(const MethodCurve& method, const Judged& full, const Judged& none);
std::optional<Index> needed_heads(const MethodCurve& method, const Judged& none);
inline constexpr const char* kUsedHeads =
    "the fewest heads within 1% of the way from all to none, without any more training";
inline constexpr const char* kNeededHeads =
    "the fewest heads that, fine-tuned, end within 1% of the unpruned model trained on as long";

/// The methods of a curve of this model, by name.
std::vector<std::string> curve_methods(const Transformer& model, const CurveOptions& options);
/// What curves of these runs are made of, to be made side by side where options.keeping keeps it.
std::vector<Cell> curve_cells(const std::vector<std::filesystem::path>& runs,
                              const CurveOptions& options);
/// Errors: those of choose_heads; an unknown method. Throws Stopped.
Curve prune_curve(const Run& run, const CurveOptions& options = {});

// ---- over several runs, of different seeds for instance

/// A point of a method's curve over several runs. Losses are geometric means.
struct PointOverRuns {
  Index kept = 0;
  Interval pruned{};
  std::optional<Interval> finetuned{}, from_scratch{}, unpruned{};  // where the curves have them
  /// Logarithm of the loss after removal over that of the method with the lowest mean at this size,
  /// run by run: methods are judged on the same models and examples. p is p_of_picked, so that the
  /// best may be picked afterwards; none for the best itself.
  std::optional<Paired> against_best{};
  /// The same of the fine-tuned loss over the one from scratch, which trained on the same schedule,
  /// and over that of the unpruned model, which trained on by the same stages.
  std::optional<Paired> against_scratch{}, against_unpruned{};
};
/// Without what the curves do not have.
Json to_json(const PointOverRuns& point);

struct MethodOverRuns {
  std::string method;
  std::vector<PointOverRuns> points;
  Interval area{};
  std::optional<Interval> regret{};
  std::vector<std::optional<Index>> knees;   // heads used, of each run
  std::vector<std::optional<Index>> needed;  // heads needed, of each run
  std::optional<Index> steps{};              // as MethodCurve has it, of the first run
  std::optional<std::string> schedule{};     // the same
};

Json to_json(const MethodOverRuns& method);

struct CurveOverRuns {
  Index runs = 0;
  std::optional<Index> needed{};
  std::vector<MethodOverRuns> methods;
};
Json to_json(const CurveOverRuns& curve);

/// Errors: no curve; curves of different tasks, methods or sizes.
CurveOverRuns over_runs(std::span<const Curve> curves);
/// The columns of a curve's methods as its JSON has them, and of their points.
Table choices_table();
Table points_table();
/// Curves of runs: means for each method and size, each method, and a row for each run.
std::vector<Table> curve_tables(std::span<const Curve> curves,
                                const std::vector<std::string>& runs);

}  // namespace headlab
