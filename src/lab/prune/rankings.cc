// Scores: one number for each head, the higher the more it matters. They differ in what they look
// at (weights, patterns, gradients, the loss) and in what they cost. "Importance" has been
// published under one name and computed in three ways; here each has a name of its own: with g the
// gradient of an example's loss with respect to the gate of a head (1 in the trained model),
//   per example  mean over examples of |g|                   Michel et al. 2019, equation 2
//   per token    mean over positions of |g at the position|  their program
//   per batch    mean over batches of |g of the batch|       popular scripts: signs cancel inside
// Read next: search.cc, which judges subsets of heads and not single heads.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/heads/weights/circuits.h"
#include "headlab/lab/heads/weights/matrix.h"
#include "lab/prune/subsets.h"

namespace headlab {
namespace {

enum class Grain { example, token, batch };
enum class Sign { dropped, kept };
enum class Norm { by_attention_layer, none };

/// Returns the shape of the gates of an attention layer: a separate gradient for each head and each
/// `grain`.
Shape gate_shape(const AttentionLayer& attention_layer, const Batch& batch, Grain grain) {
  const Index B = batch.size, T = batch.queries(attention_layer.kind),
              H = attention_layer.attention->head_count();
  if (grain == Grain::batch) return {H};
  return grain == Grain::example ? Shape{B, H} : Shape{B, T, H};
}

/// Returns the number of gradients per head that a batch adds to the mean: 1, one for each example,
/// or one for each position that is no padding.
Index terms_of(const AttentionLayer& attention_layer, const Batch& batch, Grain grain) {
  if (grain != Grain::token) return grain == Grain::batch ? 1 : batch.size;
  Index positions = 0;
  for (Index b = 0; b < batch.size; ++b) positions += batch.queries_of(attention_layer.kind, b);
  return positions;
}

/// Quantity that is differentiated with respect to the gates, and how the gradients are added up.
struct Differentiation {
  Grain grain;
  Sign sign;
  /// Runs one batch forward with gates, and backward.
  void (*run)(const HeadedModel& model, const Batch& batch, const ModelHooks& hooks);
};

void differentiate_mean_loss(const HeadedModel& model, const Batch& batch,
                             const ModelHooks& hooks) {
  backward(model.loss(batch, {}, hooks));
}

/// Differentiates the losses of examples, each summed over its own targets.
void differentiate_losses(const HeadedModel& model, const Batch& batch, const ModelHooks& hooks) {
  backward(model.loss(batch, {}, hooks, 1));
}

/// Differentiates the sum of the correct answers' logits, with patterns and deviations as
/// constants.
void differentiate_answers(const HeadedModel& model, const Batch& batch, const ModelHooks& hooks) {
  const Tensor logits = model.forward(batch, {.frozen = true}, hooks);
  const Tensor ones = Tensor::zeros(logits.shape());
  const Index V = model.shape().outputs();
  for (Index row = 0; row < std::ssize(batch.targets); ++row) {
    if (const Index answer = batch.targets[row]; answer >= 0) ones.data()[row * V + answer] = 1;
  }
  backward(logits, ones);
}

/// Returns the choosing examples in batches.
template <class Visit>
void for_each_batch(const PruneProblem& problem, PassCount& cost, const Visit& visit) {
  const Batch all = choosing_examples(problem);
  for_parts(all, kChoosingBatch, [&](const Batch& part, Index) { visit(part); });
  cost.forward += all.size;
}

/// Sums over batches, by head: the gradients of the gates, and their number.
struct GradientSums {
  std::vector<double> gradients, terms;
};

/// Returns the gates of an attention layer whose heads are at `first` and after it in the model: 1
/// for each head that is left, 0 for the others.
Tensor gates_of(const Shape& shape, const std::vector<bool>& is_left, std::size_t first) {
  Tensor gates = Tensor::full(shape, 1);
  const Index H = shape[-1];
  for (Index i = 0; i < gates.count(); ++i) {
    if (!is_left[first + i % H]) gates.data()[i] = 0;
  }
  return gates.set_requires_grad();
}

void add_batch(GradientSums& sums, const PruneProblem& problem, const Batch& batch,
               const Differentiation& how, const std::vector<bool>& is_left) {
  const std::vector<AttentionLayer> attention_layers = problem.model.attention_layers();
  ModelHooks hooks;
  std::size_t gated = 0;
  for (const AttentionLayer& attention_layer : attention_layers) {
    const Shape shape = gate_shape(attention_layer, batch, how.grain);
    hooks.interventions.push_back({.gate = gates_of(shape, is_left, gated)});
    gated += attention_layer.attention->head_count();
  }
  how.run(problem.model, batch, hooks);
  std::size_t first = 0;  // first head of the attention layer
  for (std::size_t m = 0; m < attention_layers.size(); ++m) {
    const Index H = attention_layers[m].attention->head_count();
    const Tensor grad = hooks.interventions[m].gate.grad();
    for (Index i = 0; grad.defined() && i < grad.count(); ++i) {
      const double g = grad.data()[i];
      sums.gradients[first + i % H] += how.sign == Sign::kept ? g : std::abs(g);
    }
    for (Index h = 0; h < H; ++h) {
      sums.terms[first++] += static_cast<double>(terms_of(attention_layers[m], batch, how.grain));
    }
  }
}

/// Returns the means of the gradients of gates over examples, positions or batches; with their
/// signs, means over targets. Heads that are not left are ablated.
std::vector<double> mean_gradients(const PruneProblem& problem, const Differentiation& how,
                                   const std::vector<bool>& is_left, PassCount& cost) {
  const std::size_t heads = is_left.size();
  GradientSums sums{std::vector<double>(heads), std::vector<double>(heads)};
  Index targets = 0;
  for_each_batch(problem, cost, [&](const Batch& batch) {
    add_batch(sums, problem, batch, how, is_left);
    targets += batch.target_count();
    cost.backward += batch.size;
  });
  problem.model.visit([](const std::string&, Tensor parameter) { parameter.zero_grad(); });
  for (std::size_t h = 0; h < heads; ++h) {
    sums.gradients[h] /=
        how.sign == Sign::kept ? static_cast<double>(targets) : std::max(1.0, sums.terms[h]);
  }
  return sums.gradients;
}

std::vector<double> mean_gradients(const PruneProblem& problem, const Differentiation& how,
                                   PassCount& cost) {
  const std::vector<bool> all(all_heads(problem.model).size(), true);
  return mean_gradients(problem, how, all, cost);
}

/// Divides the scores of each attention layer by their l2 norm.
void normalise_by_layer(const std::vector<HeadId>& heads, std::vector<double>& scores) {
  for (std::size_t i = 0; i < heads.size();) {
    std::size_t end = i;
    double squares = 0;
    for (; end < heads.size() && heads[end].attention_layer == heads[i].attention_layer; ++end) {
      squares += scores[end] * scores[end];
    }
    for (; i < end; ++i) scores[i] /= squares > 0 ? std::sqrt(squares) : 1;
  }
}

template <Grain grain, Norm norm>
std::vector<double> importance(const PruneProblem& problem, PassCount& cost) {
  const auto run = grain == Grain::batch ? differentiate_mean_loss : differentiate_losses;
  std::vector<double> scores = mean_gradients(problem, {grain, Sign::dropped, run}, cost);
  if (norm == Norm::by_attention_layer) normalise_by_layer(all_heads(problem.model), scores);
  return scores;
}

/// Removes the head of the lowest importance, estimates the importance of the heads that are left,
/// and so on. Heads that are removed have a score below all others, so they stay removed.
std::vector<Choice> remove_stepwise(const PruneProblem& problem, std::span<const Index> sizes,
                                    PassCount& cost) {
  const std::vector<HeadId> heads = all_heads(problem.model);
  std::vector<Choice> choices(sizes.size());
  HeadSet left = heads;
  enter_choice(problem, left, sizes, choices);
  while (!sizes.empty() && std::ssize(left) > std::ranges::min(sizes)) {
    const auto is_left = mapped(heads, [&](const HeadId& head) { return contains(left, head); });
    std::vector<double> scores =
        mean_gradients(problem, {Grain::example, Sign::dropped, differentiate_losses}, is_left,
                       cost);
    for (std::size_t h = 0; h < heads.size(); ++h) scores[h] *= is_left[h] ? 1 : 0;
    normalise_by_layer(heads, scores);
    for (std::size_t h = 0; h < heads.size(); ++h) scores[h] -= is_left[h] ? 0 : 1;
    const Index fewer = std::ssize(left) - 1;
    left = keep_highest(problem, scores, std::span(&fewer, 1))[0].kept;
    enter_choice(problem, left, sizes, choices);
  }
  return choices;
}

/// Returns the first-order estimate of the cost of removal.
std::vector<double> taylor(const PruneProblem& problem, PassCount& cost) {
  std::vector<double> scores =
      mean_gradients(problem, {Grain::example, Sign::kept, differentiate_losses}, cost);
  for (double& score : scores) score = -score;
  return scores;
}

/// Returns the relevance r of a head for one example: the sum over its output z of z dA/dz, where A
/// is the sum of the correct answers' logits, with patterns and the deviations of layer norms as
/// constants; the score is the mean of |r|. The method is similar to Voita et al. 2019, section 4,
/// whose rules differ: they start from the top-1 logit, give positive and negative terms half of
/// the relevance each (alpha = beta = 1/2), stabilise quotients by 1e-5, and propagate through
/// patterns as well. This version is linear and keeps signs: the relevances of a layer's heads and
/// of everything that bypasses them sum to A, biases included, exactly if no feed-forward network
/// follows.
std::vector<double> relevance(const PruneProblem& problem, PassCount& cost) {
  return mean_gradients(problem, {Grain::example, Sign::dropped, differentiate_answers}, cost);
}

/// Function that returns a measure of one row of a pattern.
using RowMeasure = double (*)(Index keys, const Scalar* weights);

double minus_entropy(Index keys, const Scalar* weights) {
  double sum = 0;
  for (Index s = 0; s < keys; ++s) {
    if (const auto w = static_cast<double>(weights[s]); w > 0) sum += w * std::log(w);
  }
  return sum;
}

double largest_weight(Index keys, const Scalar* weights) {
  return *std::max_element(weights, weights + keys);
}

/// Returns the mean of the measure over a head's queries on all examples, without padding.
template <RowMeasure measure>
std::vector<double> pattern_means(const PruneProblem& problem, PassCount& cost) {
  const NoGrad no_grad;
  const std::vector<AttentionLayer> attention_layers = problem.model.attention_layers();
  std::vector<double> means(all_heads(problem.model).size()), rows(means.size());
  for_each_batch(problem, cost, [&](const Batch& batch) {
    ActivationCache activations;
    problem.model.forward(batch, {}, {.activations = &activations});
    const std::vector<Tensor> patterns = normalised_patterns(problem.model, activations);
    std::size_t first = 0;  // first head of the attention layer
    for (std::size_t m = 0; m < attention_layers.size(); ++m) {
      const Tensor& P = patterns[m];  // [B, H, T, S]
      if (!P.defined()) continue;     // no heads
      const Index H = P.size(1), T = P.size(2), S = P.size(3);
      for (Index i = 0; i < batch.size * H; ++i) {
        const Index queries = batch.queries_of(attention_layers[m].kind, i / H);
        for (Index t = 0; t < queries; ++t) {
          means[first + i % H] += measure(S, P.data() + (i * T + t) * S);
        }
        rows[first + i % H] += static_cast<double>(queries);
      }
      first += H;
    }
  });
  for (std::size_t h = 0; h < means.size(); ++h) means[h] /= std::max(1.0, rows[h]);
  return means;
}

/// Returns the Frobenius norm of a head's rows of W_O, [Dv, C].
double output_norm(const HeadWeights& weights) {
  const Matrix O(weights.O);
  return std::sqrt(inner(O, O));
}

/// Returns ||W_V W_O|| of one head.
double value_output_norm(const HeadWeights& weights) {
  return product_norm(gram(Matrix(weights.V)), gram(Matrix(weights.O).transposed()));
}

template <double (*norm)(const HeadWeights& weights)>
std::vector<double> norms(const PruneProblem& problem, PassCount&) {
  return mapped(all_heads(problem.model),
                [&](const HeadId& head) { return norm(plain_weights(problem.model, head)); });
}

std::vector<double> random_order(const PruneProblem& problem, PassCount&) {
  std::vector<double> places(all_heads(problem.model).size());
  std::iota(places.begin(), places.end(), 0.0);
  Generator random(streams::seeded(problem.settings.seed).fold("prune at random"));
  random.shuffle(std::span<double>(places));
  return places;
}

/// Returns the increase of the loss with each head alone ablated.
template <AblationKind kind>
std::vector<double> ablation_rises(const PruneProblem& problem, PassCount& cost) {
  const std::vector<HeadId> heads = all_heads(problem.model);
  std::vector<HeadSet> kept{heads};
  for (const HeadId& head : heads) kept.push_back(without(heads, head));
  const std::vector<double> losses = SubsetLoss(problem, cost, kind)(kept);
  std::vector<double> rises;
  for (std::size_t i = 1; i < losses.size(); ++i) rises.push_back(losses[i] - losses[0]);
  return rises;
}

using enum MethodKind;
constexpr const char *kMichel = "Michel et al. 2019", *kVariant = "a variant of importance";

constexpr PruneMethod kRankings[] = {
    {"random", baseline, "heads drawn by the seed; no pass at all", "", random_order},
    {"magnitude", score, "Frobenius norm of the head's rows of W_O; no pass", "",
     norms<output_norm>},
    {"magnitude_ov", score, "Frobenius norm of the head's W_V W_O; no pass", "",
     norms<value_output_norm>},
    {"entropy", score, "minus the mean entropy of the head's pattern; 1 forward pass", "",
     pattern_means<minus_entropy>},
    {"confidence", score, "mean of the largest weight of each query; 1 forward pass",
     "Voita et al. 2019", pattern_means<largest_weight>},
    {"importance", score,
     "mean over examples of |dL/dgate|, l2-normalised by layer (importance_token, _batch: over "
     "positions, batches; with _raw at its end: not normalised); 1 backward pass",
     "Michel et al. 2019, equation 2", importance<Grain::example, Norm::by_attention_layer>},
    {"importance_stepwise", search,
     "importance, estimated again after each removal; H backward passes", kMichel, nullptr,
     remove_stepwise},
    {"taylor", score,
     "-dL/dgate with its sign: the first-order estimate of what removal costs; 1 backward pass",
     "Molchanov et al. 2017", taylor},
    {"lrp", score,
     "mean over examples of |sum of gradient x output|, of the right answers' logits with patterns "
     "and norms frozen; 1 backward pass",
     "Voita et al. 2019, section 4, in kind", relevance},
    {"ablation", score, "rise of the loss with this head's output at 0; H forward passes", kMichel,
     ablation_rises<AblationKind::zero>},
    {"ablation_mean", score,
     "rise of the loss with this head's output at its mean; H forward passes", "",
     ablation_rises<AblationKind::mean>},
    {"ablation_resample", score,
     "rise of the loss with this head's output from another example; H forward passes", "",
     ablation_rises<AblationKind::resample>},
};

constexpr PruneMethod kVariants[] = {
    {"importance_raw", score, kVariant, kMichel, importance<Grain::example, Norm::none>},
    {"importance_token", score, kVariant, kMichel,
     importance<Grain::token, Norm::by_attention_layer>},
    {"importance_token_raw", score, kVariant, kMichel, importance<Grain::token, Norm::none>},
    {"importance_batch", score, kVariant, "", importance<Grain::batch, Norm::by_attention_layer>},
    {"importance_batch_raw", score, kVariant, "", importance<Grain::batch, Norm::none>},
};

}  // namespace

std::span<const PruneMethod> ranking_methods() { return kRankings; }
std::span<const PruneMethod> variant_methods() { return kVariants; }

}  // namespace headlab
