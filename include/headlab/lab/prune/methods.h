// Methods that choose which heads to keep for a given number of heads: a score for each head, a
// search over subsets, or trained gates. Help, errors and tests read the table of methods. A new
// method is a function and a row at the end of the file of its kind: src/lab/prune/rankings.cc,
// search.cc or gates.cc. Read next: prune.h.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/runs/run.h"

namespace headlab {

struct PruneSettings {
  /// Training examples on which heads are chosen. The cost of a method is proportional; the noise
  /// of its measurements falls with the square root.
  Index examples = 512;
  /// Random seed: for the draws of `random`, the replacements of `ablation_resample`, and the noise
  /// and batches of the methods that train.
  std::int64_t seed = 0;
  /// Minimum number of heads that each attention layer keeps (all of them, if it has fewer). With 0
  /// an attention layer may lose all its heads; its output is then its bias b_O.
  Index per_layer_min = 0;
  /// Training steps of the methods l0 (once) and subset (for each size); each costs as much as an
  /// ordinary training step. With too few, the gates stay near their start, where nearly all are
  /// open.
  Index gate_steps = 600;
  /// lambda of the method l0, in nats for each open head, averaged over attention layers. A larger
  /// value leaves fewer gates open; their number cannot be set, so try several values.
  double penalty = 0.2;
};
/// Returns the table of settings, bound to `settings`, which must outlive it.
Settings settings_of(PruneSettings& settings);

/// Input of a method. Heads are chosen on training examples; results are evaluated on held-out
/// ones.
struct PruneProblem {
  const HeadedModel& model;
  const Task& task;
  PruneSettings settings{};
  TrainConfig train{};  // training of the model, for methods that train
};
PruneProblem problem_of(const Run& run, const PruneSettings& settings = {});

/// Cost of a method, in sequences passed through the model.
struct PassCount {
  Index forward = 0, backward = 0;
};

/// Heads to keep, in the order of the model. If the method trained weights too, `trained` is its
/// model, which still has all heads (l0 folds its gates into W_O).
struct Choice {
  std::vector<HeadId> kept;
  std::shared_ptr<Transformer> trained{};
  Index steps = 0;              // training steps beyond those of the given model
  std::vector<double> gates{};  // l0: the final gate of each head of the model, 0 if it is closed
};

enum class MethodKind {
  baseline,  // uses no information about the heads
  score,     // one number for each head; the lowest go first
  search,    // evaluates subsets of heads
  training,  // trains weights, with gates
};

struct PruneMethod {
  const char* name;
  MethodKind kind;
  const char* summary;  // the formula; after the last semicolon the cost
  const char* source;   // paper, or "" for our own methods
  /// Returns one importance score for each of all_heads(model). Null for other kinds.
  std::vector<double> (*scores)(const PruneProblem& problem, PassCount& cost);
  /// Returns a choice for each of `sizes`. Null if the scores decide.
  std::vector<Choice> (*choose)(const PruneProblem& problem, std::span<const Index> sizes,
                                PassCount& cost) = nullptr;
};

std::span<const PruneMethod> prune_table();
/// Returns the methods added by a program that uses this library. Fill it before the table is first
/// read.
std::vector<PruneMethod>& own_methods();
/// Returns a method of the table, or a variant that its row names. Error that lists the known names
/// and the nearest one.
const PruneMethod& find_prune_method(std::string_view name);

/// Throws an Error for the first number of heads that is not possible.
void check_sizes(const PruneProblem& problem, std::span<const Index> sizes);
/// Returns the smallest number of heads that per_layer_min allows.
Index fewest_heads(const PruneProblem& problem);

/// Returns the heads that a method keeps, for each number of heads in `sizes`, and adds its passes
/// to `cost` if given. Errors: those of check_sizes; examples without targets; an exhaustive search
/// over too many heads.
std::vector<Choice> choose_heads(const PruneProblem& problem, const PruneMethod& method,
                                 std::span<const Index> sizes, PassCount* cost = nullptr);
Choice choose_heads(const PruneProblem& problem, const PruneMethod& method, Index size);

/// Hard concrete gate of Louizos et al. 2018 as used by Voita et al. 2019: s = sigmoid((ln u - ln(1
/// - u) + ln alpha) / T) with u uniform, stretched from (0, 1) to (low, high) and clipped to [0,
/// 1].
struct HardConcrete {
  static constexpr double kTemperature = 0.33, kLow = -0.1, kHigh = 1.1;

  /// Returns a gate for each element of log_alpha; differentiable in log_alpha.
  static Tensor sample(const Tensor& log_alpha, Key key);
  /// Returns P(gate > 0) = sigmoid(ln alpha - T ln(-low / high)), element by element;
  /// differentiable.
  static Tensor open_probability(const Tensor& log_alpha);
  /// Returns the gate without noise: clip((high - low) sigmoid(ln alpha) + low).
  static double final_gate(double log_alpha);
};

/// Result of training with hard concrete gates: ln alpha and the gate without noise for each head,
/// and the model with the gates folded into W_O. A head whose gate is 0 can be removed without any
/// change; ln alpha ranks heads whose gates are equal.
struct TrainedGates {
  std::vector<double> log_alpha, gates;
  std::shared_ptr<Transformer> model;
};
/// Minimises the loss plus `penalty` times the expected number of open gates, averaged over
/// attention layers, for gate_steps; trains the weights too. Adds its passes to `cost` if given.
/// Source: Voita et al. 2019, equations 6 to 9.
TrainedGates train_gates(const PruneProblem& problem, PassCount* cost = nullptr);

/// Returns a relaxed k-hot vector [H]: k rounds of p = softmax(r / temperature) and r += ln(1 - p),
/// from r = noisy_logits [H]; the sum of the p. Its elements sum to k and are near 0 or 1 for a
/// small temperature. Differentiable. Source: Xie and Ermon 2019, as Li et al. 2021 use it for
/// heads.
Tensor soft_top_k(const Tensor& noisy_logits, Index k, Scalar temperature);
/// Returns the temperature of soft_top_k at a training step, counted from 0: geometric from 1 at
/// the first step to 0.05 at the last.
double subset_temperature(Index step, Index steps);

}  // namespace headlab
