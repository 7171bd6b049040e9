// Which heads can go. A method looks at a model and says which heads to keep when only so many may
// stay: by a score for each head, by search over subsets, or by training gates. The table of
// methods drives help, errors and tests; a new method is a function and a row in
// src/prune/methods.cc. Read next: prune.h.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headlab/base/random.h"
#include "headlab/heads/edits.h"
#include "headlab/tasks/task.h"
#include "headlab/train/config.h"

namespace headlab {

/// What a method works with. Heads are chosen on training examples; results are judged on held-out
/// ones.
struct PruneProblem {
  Transformer& model;  // is left as it is
  const Task& task;
  Index examples = 512;     // on which heads are judged
  std::int64_t seed = 0;    // of random choices
  Index per_layer_min = 0;  // heads that each attention module keeps, or all that it has
  bool in_sample = false;   // choose on the held-out examples: shows how much choosing flatters
  TrainConfig train{};      // how the model was trained: for methods that train
  Index gate_steps = 600;   // steps of the methods that train gates beside the weights
  double penalty = 0.2;     // lambda of the method l0
};

/// What a method cost, in sequences that went through the model.
struct PassCount {
  Index forward = 0, backward = 0;
};

/// The heads that stay, in the order of the model; and where the method trained weights along with
/// its gates, the model that came out (all heads are still there; the gates are folded into W_O).
struct Choice {
  std::vector<HeadId> kept;
  std::shared_ptr<Transformer> trained{};
};

enum class MethodKind {
  baseline,  // knows nothing
  score,     // one number for each head; the lowest go first
  search,    // evaluates subsets of heads
  training,  // trains gates or prunes while training, and weights with them
};

struct PruneMethod {
  const char* name;
  MethodKind kind;
  const char* summary;  // formula and cost in one line
  const char* source;   // paper, or "" for our own
  /// One score for each of all_heads(model): how much it matters. Null for other kinds.
  std::vector<double> (*scores)(const PruneProblem& problem, PassCount& cost);
  /// A choice for each of `sizes`. Null where the scores decide.
  std::vector<Choice> (*choose)(const PruneProblem& problem, std::span<const Index> sizes,
                                PassCount& cost);
};

std::span<const PruneMethod> prune_table();
/// Error that lists the known names and the nearest.
const PruneMethod& find_prune_method(const std::string& name);

/// What a method keeps, for each number of heads in `sizes`; if `cost` is given, what it took is
/// added there. Errors: a size below 0, above the number of heads, or too small for per_layer_min;
/// a model without targets; a search that is too large.
std::vector<Choice> choose_heads(const PruneProblem& problem, const PruneMethod& method,
                                 std::span<const Index> sizes, PassCount* cost = nullptr);

/// The fewest heads that per_layer_min allows.
Index fewest_heads(const PruneProblem& problem);

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

/// What training with hard concrete gates leaves, by head: ln alpha, and the gate without noise;
/// and the model with the gates folded into W_O. A gate of 0 is a head that can go; ln alpha ranks
/// those whose gates are equally 0 or 1.
struct TrainedGates {
  std::vector<double> log_alpha, gates;
  std::shared_ptr<Transformer> model;
};
/// Trains the loss plus `penalty` times the expected number of open gates, averaged over attention
/// modules, for gate_steps; weights train along. Voita et al. 2019, equations 6 to 9.
TrainedGates train_gates(const PruneProblem& problem, PassCount* cost = nullptr);

/// k-hot by k rounds of a softmax over r = logits + noise: r += ln(1 - p) after each, and the sum
/// of the p; near 0 or 1 for a small temperature. Sum exactly k. logits [H]; differentiable. Xie
/// and Ermon 2019, as Li et al. 2021 use it for heads.
Tensor soft_top_k(const Tensor& noisy_logits, Index k, Scalar temperature);

}  // namespace headlab
