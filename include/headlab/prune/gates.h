// Gates that are trained, for whoever wants more of them than a choice of heads: the distribution
// that opens and shuts them, and the training that pushes them shut. Read next: src/prune/gates.cc,
// the methods l0 and subset.
#pragma once

#include "headlab/prune/methods.h"

namespace headlab {

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
/// modules, for gate_steps; weights train along. What it took is added to `cost` if that is given.
/// Voita et al. 2019, equations 6 to 9.
TrainedGates train_gates(const PruneProblem& problem, PassCount* cost = nullptr);

/// k-hot by k rounds of a softmax over r = logits + noise: r += ln(1 - p) after each, and the sum
/// of the p; near 0 or 1 for a small temperature. Sum exactly k. logits [H]; differentiable. Xie
/// and Ermon 2019, as Li et al. 2021 use it for heads.
Tensor soft_top_k(const Tensor& noisy_logits, Index k, Scalar temperature);
/// Its temperature at a step of training, from 0 on: 1 at the first and 0.05 at the last, falling
/// by the same factor from step to step.
double subset_temperature(Index step, Index steps);

}  // namespace headlab
