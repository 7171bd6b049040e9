// Trained gates, for callers that want more than a choice of heads: the hard concrete distribution,
// the training that pushes gates towards 0, and the soft top-k of the method subset. Read next:
// src/prune/gates.cc, the methods.
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
