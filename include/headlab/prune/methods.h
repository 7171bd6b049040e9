// Which heads can go. A method looks at a model and says which heads to keep when only so many may
// stay: by a score for each head, by search over subsets, or by training gates. The table of
// methods drives help, errors and tests; a new method is a function and a row at the end of the
// file of its kind: src/lab/prune/rankings.cc, search.cc or gates.cc. Read next: prune.h.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/error.h"
#include "headlab/heads/edits.h"
#include "headlab/train/run.h"

namespace headlab {

/// The settings that all ways to prune have in common.
struct PruneSettings {
  /// Training examples on which heads are chosen. What a method costs grows in proportion; the
  /// noise of what it measures falls with the square root.
  Index examples = 512;
  /// The seed of random choices: the draws of `random`, what `ablation_resample` puts in a head's
  /// place, and the noise and batches of the methods that train.
  std::int64_t seed = 0;
  /// Heads that each attention module keeps at least (all of them, if it has fewer). With 0 a
  /// module may lose all its heads; its output is then its bias b_O.
  Index per_layer_min = 0;
  /// Training steps of the methods l0 (once) and subset (for each size); each costs what a step of
  /// any training costs. With too few, the gates stay near their start, where nearly all are open.
  Index gate_steps = 600;
  /// lambda of the method l0, in nats for each open head, averaged over attention modules. A larger
  /// value leaves fewer gates open; how many cannot be set, so try several values.
  double penalty = 0.2;
};
/// The table of settings, bound to `settings`, which must outlive it.
Settings settings_of(PruneSettings& settings);

/// What a method works with. Heads are chosen on training examples; results are judged on held-out
/// ones.
struct PruneProblem {
  const HeadedModel& model;
  const Task& task;
  PruneSettings settings{};
  TrainConfig train{};  // how the model was trained: for methods that train
};
/// The model of a run, with its task and training.
PruneProblem problem_of(const Run& run, const PruneSettings& settings = {});

/// What a method cost, in sequences that went through the model.
struct PassCount {
  Index forward = 0, backward = 0;
};

/// The heads that stay, in the order of the model; and if the method trained weights too, the model
/// that it trained, which still has all heads (l0 folds its gates into W_O).
struct Choice {
  std::vector<HeadId> kept;
  std::shared_ptr<Transformer> trained{};
  Index steps = 0;              // of training that it had beyond the model that was given
  std::vector<double> gates{};  // l0: the final gate of each head of the model, 0 if it closed
};

enum class MethodKind {
  baseline,  // knows nothing
  score,     // one number for each head; the lowest go first
  search,    // evaluates subsets of heads
  training,  // trains weights, with gates
};

struct PruneMethod {
  const char* name;
  MethodKind kind;
  const char* summary;  // the formula; and after the last semicolon what it costs
  const char* source;   // paper, or "" for our own
  /// One score for each of all_heads(model): how much it matters. Null for other kinds.
  std::vector<double> (*scores)(const PruneProblem& problem, PassCount& cost);
  /// A choice for each of `sizes`. Null where the scores decide.
  std::vector<Choice> (*choose)(const PruneProblem& problem, std::span<const Index> sizes,
                                PassCount& cost) = nullptr;
};

std::span<const PruneMethod> prune_table();
/// The methods of a program that uses this library, to be filled before the table is first read.
std::vector<PruneMethod>& own_methods();
/// One of the table, or a variant that its row names. Error that lists the known names and the
/// nearest.
const PruneMethod& find_prune_method(std::string_view name);

/// Error for the first number of heads that does not fit.
void check_sizes(const PruneProblem& problem, std::span<const Index> sizes);
/// The fewest heads that per_layer_min allows.
Index fewest_heads(const PruneProblem& problem);

/// What a method keeps, for each number of heads in `sizes`; if `cost` is given, the passes that it
/// took are added there. Errors: those of check_sizes; examples without targets; an exhaustive
/// search over too many heads.
std::vector<Choice> choose_heads(const PruneProblem& problem, const PruneMethod& method,
                                 std::span<const Index> sizes, PassCount* cost = nullptr);
/// The same for one number of heads.
Choice choose_heads(const PruneProblem& problem, const PruneMethod& method, Index size);

/// The gate of Louizos et al. 2018 as Voita et al. 2019 use it: s = sigmoid((ln u - ln(1 - u) +
/// ln alpha) / T) with u uniform, stretched from (0, 1) to (low, high) and clipped to [0, 1].
struct HardConcrete {
  static constexpr double kTemperature = 0.33, kLow = -0.1, kHigh = 1.1;

  /// A gate for each element of log_alpha; differentiable in it.
  static Tensor sample(const Tensor& log_alpha, Key key);
  /// P(gate > 0) = sigmoid(ln alpha - T ln(-low / high)), element by element; differentiable.
  static Tensor open_probability(const Tensor& log_alpha);
  /// The gate without noise: clip((high - low) sigmoid(ln alpha) + low).
  static double final_gate(double log_alpha);
};

/// The result of training with hard concrete gates. By head: ln alpha, and the gate without noise;
/// and the model with the gates folded into W_O. A head whose gate is 0 can be removed without any
/// change; ln alpha ranks heads whose gates are equal.
struct TrainedGates {
  std::vector<double> log_alpha, gates;
  std::shared_ptr<Transformer> model;
};
/// Minimises the loss plus `penalty` times the expected number of open gates, averaged over
/// attention modules, for gate_steps; the weights are trained too. The passes that it took are
/// added to `cost` if that is given. Source: Voita et al. 2019, equations 6 to 9.
TrainedGates train_gates(const PruneProblem& problem, PassCount* cost = nullptr);

/// A relaxed k-hot vector [H]: k rounds of p = softmax(r / temperature) and r += ln(1 - p), from
/// r = noisy_logits [H]; the sum of the p. Its elements sum to k and lie near 0 or 1 for a small
/// temperature. Differentiable. Source: Xie and Ermon 2019, as Li et al. 2021 use it for heads.
Tensor soft_top_k(const Tensor& noisy_logits, Index k, Scalar temperature);
/// Its temperature at a step of training, counted from 0: geometric from 1 at the first step to
/// 0.05 at the last.
double subset_temperature(Index step, Index steps);

}  // namespace headlab
