// Scores: one number for each head, the higher the more it matters. They differ in what they look
// at (weights, patterns, gradients, the loss) and in what they cost. "Importance" has been
// published under one name and computed in three ways; here each has a name of its own: with g the
// gradient of an example's loss with respect to the gate of a head (1 in the trained model),
//   per example  mean over examples of |g|                 Michel et al. 2019, equation 2
//   per token    mean over positions of |g at the position| their program
//   per batch    mean over batches of |g of the batch|      popular scripts: signs cancel inside
// Read next: search.cc, which judges sets of heads and not heads.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlab/heads/geometry.h"
#include "headlab/tensor/tape.h"
#include "prune/judge.h"

namespace headlab {
namespace {

enum class Grain { example, token, batch };
enum class Sign { dropped, kept };
enum class Norm { by_module, none };

/// Positions of a batch that ask the heads of a module something; padding counts only in `room`.
Index positions_of(const Batch& batch, AttentionKind kind, bool room) {
  const bool source = kind == AttentionKind::encoder;
  const Index length = source ? batch.source_length : batch.length;
  const Ids& lengths = source ? batch.source_lengths : batch.lengths;
  if (room || lengths.empty()) return batch.size * length;
  return std::accumulate(lengths.begin(), lengths.end(), Index{0});
}

/// A gate of ones for each head of the model, each with its own gradient for each `grain`.
std::vector<HeadEdits> open_gates(const PruneProblem& problem, const Batch& batch, Grain grain) {
  std::vector<HeadEdits> edits;
  for (const AttentionModule& module : problem.model.attention_modules()) {
    const Index heads = module.attention->head_count();
    const Index T = positions_of(batch, module.kind, true) / batch.size;
    const Shape shape = grain == Grain::batch     ? Shape{heads}
                        : grain == Grain::example ? Shape{batch.size, heads}
                                                  : Shape{batch.size, T, heads};
    edits.push_back({.gate = Tensor::full(shape, 1).set_requires_grad()});
  }
  return edits;
}

/// Adds the gradients of the gates (or their absolute values) to the sum of each head.
void add_gradients(const std::vector<HeadEdits>& gates, Sign sign, std::vector<double>& sums) {
  std::size_t first = 0;
  for (const HeadEdits& edits : gates) {
    const auto heads = static_cast<std::size_t>(edits.gate.size(-1));
    const Tensor grad = edits.gate.grad();
    for (std::size_t i = 0; grad.defined() && i < grad.values().size(); ++i) {
      const auto g = static_cast<double>(grad.values()[i]);
      sums[first + i % heads] += sign == Sign::kept ? g : std::abs(g);
    }
    first += heads;
  }
}

/// Adds to each head what its mean counts: batches, examples, or positions that are no padding.
void add_terms(const PruneProblem& problem, const Batch& batch, Grain grain,
               std::vector<double>& terms) {
  std::size_t head = 0;
  for (const AttentionModule& module : problem.model.attention_modules()) {
    const Index here = grain == Grain::batch     ? 1
                       : grain == Grain::example ? batch.size
                                                 : positions_of(batch, module.kind, false);
    for (Index h = 0; h < module.attention->head_count(); ++h)
      terms[head++] += static_cast<double>(here);
  }
}

/// Runs one batch forward with gates, and backward.
using Pass = void (*)(const Transformer& model, const Batch& batch, const ModelHooks& hooks);

void differentiate_mean_loss(const Transformer& model, const Batch& batch,
                             const ModelHooks& hooks) {
  backward(model.loss(batch, {}, hooks));
}

/// The loss of an example is the sum over its own targets.
void differentiate_losses(const Transformer& model, const Batch& batch, const ModelHooks& hooks) {
  backward(model.loss(batch, {}, hooks, 1));
}

/// The sum of the right answers' logits, with patterns and deviations as constants.
void differentiate_answers(const Transformer& model, const Batch& batch, const ModelHooks& hooks) {
  const Tensor logits = model.forward(batch, {.frozen = true}, hooks);
  const Tensor ones = Tensor::zeros(logits.shape());
  const Index V = model.config().vocab;
  for (Index row = 0; row < std::ssize(batch.targets); ++row) {
    const std::int32_t answer = batch.targets[row];
    if (answer >= 0) ones.data()[row * V + answer] = 1;
  }
  backward(logits, ones);
}

/// Means of the gradients of gates over examples, positions or batches; with their signs, means
/// over targets.
std::vector<double> mean_gradients(const PruneProblem& problem, Grain grain, Sign sign, Pass pass,
                                   PassCount& cost) {
  const Batch all = choosing_examples(problem);
  std::vector<double> sums(all_heads(problem.model).size());
  std::vector<double> terms(sums.size());
  for (Index begin = 0; begin < all.size; begin += kJudgeBatch) {
    const Batch batch = all.rows(begin, std::min(all.size, begin + kJudgeBatch));
    add_terms(problem, batch, grain, terms);
    const ModelHooks hooks{.edits = open_gates(problem, batch, grain)};
    pass(problem.model, batch, hooks);
    add_gradients(hooks.edits, sign, sums);
  }
  problem.model.visit([](const std::string&, Tensor& parameter) { parameter.zero_grad(); });
  const auto targets = static_cast<double>(all.target_count());
  for (std::size_t h = 0; h < sums.size(); ++h)
    sums[h] /= sign == Sign::kept ? targets : std::max(1.0, terms[h]);
  cost.forward += all.size;
  cost.backward += all.size;
  return sums;
}

/// Divides each module's scores by their l2 norm.
void normalise_by_module(const std::vector<HeadId>& heads, std::vector<double>& scores) {
  for (std::size_t i = 0; i < heads.size();) {
    std::size_t end = i;
    double squares = 0;
    for (; end < heads.size() && heads[end].layer == heads[i].layer; ++end)
      squares += scores[end] * scores[end];
    for (; i < end; ++i) scores[i] /= squares > 0 ? std::sqrt(squares) : 1;
  }
}

std::vector<double> sensitivity(const PruneProblem& problem, Grain grain, Norm norm,
                                PassCount& cost) {
  const Pass pass = grain == Grain::batch ? differentiate_mean_loss : differentiate_losses;
  std::vector<double> scores = mean_gradients(problem, grain, Sign::dropped, pass, cost);
  if (norm == Norm::by_module) normalise_by_module(all_heads(problem.model), scores);
  return scores;
}

/// The mean over all examples and queries of `measure` (rows of weights [rows, keys]) of each head.
std::vector<double> pattern_means(const PruneProblem& problem,
                                  double (*measure)(Index rows, Index keys, const Scalar* weights),
                                  PassCount& cost) {
  const NoGrad no_grad;
  std::vector<double> means;
  const Batch all = choosing_examples(problem);
  for (Index begin = 0; begin < all.size; begin += kJudgeBatch) {
    const Batch batch = all.rows(begin, std::min(all.size, begin + kJudgeBatch));
    ModelCaptures captures;
    problem.model.forward(batch, {}, {.captures = &captures});
    const double share = static_cast<double>(batch.size) / static_cast<double>(all.size);
    std::size_t head = 0;
    for (const AttentionCaptures& module : captures.attention) {
      if (!module.pattern.defined()) continue;  // no heads
      const Index H = module.pattern.size(1), T = module.pattern.size(2),
                  S = module.pattern.size(3);
      means.resize(std::max(means.size(), head + H));
      for (Index i = 0; i < batch.size * H; ++i) {
        const double here = measure(T, S, module.pattern.data() + i * T * S);
        means[head + (i % H)] += here * share / static_cast<double>(batch.size);
      }
      head += static_cast<std::size_t>(H);
    }
  }
  cost.forward += all.size;
  return means;
}

double mean_largest(Index rows, Index keys, const Scalar* weights) {
  double sum = 0;
  for (Index row = 0; row < rows; ++row) {
    const Scalar* w = weights + row * keys;
    sum += static_cast<double>(*std::max_element(w, w + keys));
  }
  return sum / static_cast<double>(rows);
}

double frobenius(std::span<const Scalar> values) {
  double squares = 0;
  for (const Scalar w : values) squares += static_cast<double>(w) * static_cast<double>(w);
  return std::sqrt(squares);
}

/// ||W_V W_O|| of one head: sqrt(tr(A B)) with A = W_V^T W_V, B = W_O W_O^T, both [Dv, Dv], so that
/// the product [C, C] is never made.
double ov_norm(const MultiHeadAttention& attention, Index head) {
  const Index Dv = attention.d_value, C = attention.O.W.size(1);
  const Index columns = attention.V.W.size(1);
  const Index kv = attention.kv_head[head];
  const Scalar* W_V = attention.V.W.values().data() + kv * Dv;
  const Scalar* W_O = attention.O.W.values().data() + head * Dv * C;
  double trace = 0;
  for (Index i = 0; i < Dv; ++i) {
    for (Index j = 0; j < Dv; ++j) {
      double a = 0, b = 0;
      for (Index c = 0; c < C; ++c) {
        a += static_cast<double>(W_V[c * columns + i]) * static_cast<double>(W_V[c * columns + j]);
        b += static_cast<double>(W_O[i * C + c]) * static_cast<double>(W_O[j * C + c]);
      }
      trace += a * b;
    }
  }
  return std::sqrt(std::max(0.0, trace));
}

/// The rise of the loss with each head alone silenced.
std::vector<double> ablation_rises(const PruneProblem& problem, AblationKind kind,
                                   PassCount& cost) {
  const std::vector<HeadId> heads = all_heads(problem.model);
  std::vector<HeadSet> kept{heads};
  for (const HeadId& head : heads) kept.push_back(without(heads, head));
  const std::vector<double> losses = Judge(problem, cost, kind).losses(kept);
  std::vector<double> rises;
  for (std::size_t i = 1; i < losses.size(); ++i) rises.push_back(losses[i] - losses[0]);
  return rises;
}

}  // namespace

std::vector<double> random_scores(const PruneProblem& problem, PassCount&) {
  std::vector<double> places(all_heads(problem.model).size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<double>(i);
  Generator random(Key{static_cast<std::uint64_t>(problem.seed)}.fold("prune at random"));
  random.shuffle(std::span<double>(places));
  return places;
}

std::vector<double> magnitude_scores(const PruneProblem& problem, PassCount&) {
  std::vector<double> norms;
  for (const AttentionModule& module : problem.model.attention_modules()) {
    const MultiHeadAttention& attention = *module.attention;
    const auto elements = static_cast<std::size_t>(attention.d_value * attention.O.W.size(1));
    for (std::size_t h = 0; h < attention.heads.size(); ++h)
      norms.push_back(frobenius(attention.O.W.values().subspan(h * elements, elements)));
  }
  return norms;
}

std::vector<double> ov_magnitude_scores(const PruneProblem& problem, PassCount&) {
  std::vector<double> norms;
  for (const AttentionModule& module : problem.model.attention_modules())
    for (Index h = 0; h < module.attention->head_count(); ++h)
      norms.push_back(ov_norm(*module.attention, h));
  return norms;
}

std::vector<double> entropy_scores(const PruneProblem& problem, PassCount& cost) {
  std::vector<double> scores = pattern_means(problem, mean_entropy, cost);
  for (double& score : scores) score = -score;
  return scores;
}

std::vector<double> confidence_scores(const PruneProblem& problem, PassCount& cost) {
  return pattern_means(problem, mean_largest, cost);
}

std::vector<double> importance_scores(const PruneProblem& problem, PassCount& cost) {
  return sensitivity(problem, Grain::example, Norm::by_module, cost);
}

std::vector<double> raw_importance_scores(const PruneProblem& problem, PassCount& cost) {
  return sensitivity(problem, Grain::example, Norm::none, cost);
}

std::vector<double> token_importance_scores(const PruneProblem& problem, PassCount& cost) {
  return sensitivity(problem, Grain::token, Norm::by_module, cost);
}

std::vector<double> raw_token_importance_scores(const PruneProblem& problem, PassCount& cost) {
  return sensitivity(problem, Grain::token, Norm::none, cost);
}

std::vector<double> batch_importance_scores(const PruneProblem& problem, PassCount& cost) {
  return sensitivity(problem, Grain::batch, Norm::by_module, cost);
}

std::vector<double> raw_batch_importance_scores(const PruneProblem& problem, PassCount& cost) {
  return sensitivity(problem, Grain::batch, Norm::none, cost);
}

std::vector<double> taylor_scores(const PruneProblem& problem, PassCount& cost) {
  std::vector<double> scores =
      mean_gradients(problem, Grain::example, Sign::kept, differentiate_losses, cost);
  for (double& score : scores) score = -score;
  return scores;
}

/// Relevance r of a head for one example: the sum over its output z of z dA/dz, where A is the sum
/// of the right answers' logits, with patterns and the deviations of layer norms as constants; the
/// score is the mean of |r|. In kind after Voita et al. 2019, section 4, whose rules differ: they
/// start from the top-1 logit, share relevance out in halves among positive and among negative
/// terms (alpha = beta = 1/2), steady quotients by 1e-5, and pass it through patterns as well. Ours
/// is linear and keeps signs: the relevances of one layer's heads and of all that passes them by
/// sum to A, biases included, exactly where no feed-forward network follows.
std::vector<double> relevance_scores(const PruneProblem& problem, PassCount& cost) {
  return mean_gradients(problem, Grain::example, Sign::dropped, differentiate_answers, cost);
}

std::vector<double> zero_ablation_scores(const PruneProblem& problem, PassCount& cost) {
  return ablation_rises(problem, AblationKind::zero, cost);
}

std::vector<double> mean_ablation_scores(const PruneProblem& problem, PassCount& cost) {
  return ablation_rises(problem, AblationKind::mean, cost);
}

std::vector<double> resample_ablation_scores(const PruneProblem& problem, PassCount& cost) {
  return ablation_rises(problem, AblationKind::resample, cost);
}

}  // namespace headlab
