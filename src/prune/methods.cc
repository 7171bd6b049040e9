// The pruning methods and their table. Each is one function from a model to an order of removal,
// judged on training examples alone; held-out examples decide afterwards how well it chose
// (prune.cc). On a converged model gradients vanish, so `importance` may do no better than
// `random`: that is no bug.
#include "headlab/prune/methods.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/tensor/tape.h"

namespace headlab::inline HEADLAB_SCALAR {
namespace {

constexpr Index kBatch = 64;

Batch choosing_examples(const PruneProblem& problem) {
  return problem.task.make(Key{}.fold("prune"), problem.examples, Split::train).batch;
}

/// The loss over all examples with only these heads' gates open.
double loss_with(const PruneProblem& problem, const Batch& all, std::span<const HeadId> kept) {
  const NoGrad no_grad;
  const auto targets = static_cast<double>(std::max<Index>(1, all.target_count()));
  const ModelHooks hooks{.edits = gates_for(problem.model, kept)};
  double loss = 0;
  for (Index begin = 0; begin < all.size; begin += kBatch) {
    const Batch part = all.rows(begin, std::min(all.size, begin + kBatch));
    loss += static_cast<double>(problem.model.loss(part, {}, hooks, targets).item());
  }
  return loss;
}

/// The `count` heads with the lowest scores, lowest first; of equals the first.
std::vector<HeadId> lowest(const std::vector<HeadId>& heads, const std::vector<double>& scores,
                           Index count) {
  std::vector<std::size_t> order(heads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  std::vector<HeadId> chosen;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    chosen.push_back(heads[order[i]]);
  }
  return chosen;
}

/// Greedy backward elimination: again and again the head whose removal, after those before it,
/// leaves the lowest loss.
std::vector<HeadId> greedy(const PruneProblem& problem, Index count) {
  const Batch examples = choosing_examples(problem);
  std::vector<HeadId> left = all_heads(problem.model), removed;
  while (std::ssize(removed) < count) {
    std::vector<double> losses;
    for (std::size_t i = 0; i < left.size(); ++i) {
      std::vector<HeadId> without = left;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      losses.push_back(loss_with(problem, examples, without));
    }
    const auto best = std::min_element(losses.begin(), losses.end()) - losses.begin();
    removed.push_back(left[static_cast<std::size_t>(best)]);
    left.erase(left.begin() + best);
  }
  return removed;
}

/// |dL(x)/dgate_h| summed over the examples of one batch; the loss of an example is the sum over
/// its targets.
void add_sensitivity(const PruneProblem& problem, const Batch& batch, std::vector<double>& sums) {
  ModelHooks hooks;
  for (const auto& heads : problem.model.head_numbers()) {
    Tensor gate = Tensor::full({batch.size, static_cast<Index>(heads.size())}, 1);
    hooks.edits.push_back({.gate = gate.set_requires_grad()});
  }
  backward(problem.model.loss(batch, {}, hooks, 1));
  std::size_t first = 0;
  for (const HeadEdits& edits : hooks.edits) {
    const Tensor grad = edits.gate.grad();
    const auto heads = static_cast<std::size_t>(edits.gate.size(1));
    for (std::size_t i = 0; grad.defined() && i < grad.values().size(); ++i) {
      sums[first + i % heads] += std::abs(static_cast<double>(grad.values()[i]));
    }
    first += heads;
  }
}

/// Divides each module's scores by their l2 norm.
void normalise_by_module(const std::vector<HeadId>& heads, std::vector<double>& scores) {
  for (std::size_t i = 0; i < heads.size();) {
    std::size_t end = i;
    double squares = 0;
    for (; end < heads.size() && heads[end].layer == heads[i].layer; ++end) {
      squares += scores[end] * scores[end];
    }
    for (; i < end; ++i) {
      scores[i] /= squares > 0 ? std::sqrt(squares) : 1;
    }
  }
}

std::vector<HeadId> importance(const PruneProblem& problem, Index count) {
  const std::vector<HeadId> heads = all_heads(problem.model);
  const Batch all = choosing_examples(problem);
  std::vector<double> scores(heads.size());
  for (Index begin = 0; begin < all.size; begin += kBatch) {
    add_sensitivity(problem, all.rows(begin, std::min(all.size, begin + kBatch)), scores);
  }
  problem.model.visit([](const std::string&, Tensor& parameter) { parameter.zero_grad(); });
  normalise_by_module(heads, scores);
  return lowest(heads, scores, count);
}

std::vector<HeadId> magnitude(const PruneProblem& problem, Index count) {
  std::vector<double> norms;
  for (const AttentionModule& module : problem.model.attention_modules()) {
    const MultiHeadAttention& attention = *module.attention;
    const auto elements = static_cast<std::size_t>(attention.d_value * attention.O.W.size(1));
    for (std::size_t h = 0; h < attention.heads.size(); ++h) {
      double squares = 0;
      for (const Scalar w : attention.O.W.values().subspan(h * elements, elements)) {
        squares += static_cast<double>(w) * static_cast<double>(w);
      }
      norms.push_back(std::sqrt(squares));
    }
  }
  return lowest(all_heads(problem.model), norms, count);
}

std::vector<HeadId> at_random(const PruneProblem& problem, Index count) {
  std::vector<HeadId> heads = all_heads(problem.model);
  Generator random(Key{static_cast<std::uint64_t>(problem.seed)}.fold("prune at random"));
  random.shuffle(std::span<HeadId>(heads));
  heads.resize(static_cast<std::size_t>(count));
  return heads;
}

constexpr std::array<PruneMethod, 4> kMethods = {{
    {"greedy",
     "zero-ablation, re-ranked after each removal: the head whose loss rises least goes (H forward "
     "passes each)",
     greedy},
    {"importance",
     "mean over examples of |dL/dgate|, l2-normalised by layer (Michel et al. 2019, per example; "
     "one backward pass)",
     importance},
    {"magnitude", "Frobenius norm of the head's rows of W_O (no pass at all)", magnitude},
    {"random", "heads drawn by --seed: the baseline (no pass at all)", at_random},
}};

}  // namespace

std::span<const PruneMethod> prune_table() { return kMethods; }

const PruneMethod& find_prune_method(const std::string& name) {
  std::vector<std::string> names;
  for (const PruneMethod& method : kMethods) {
    if (name == method.name) {
      return method;
    }
    names.emplace_back(method.name);
  }
  throw unknown_name("pruning method", name, names);
}

}  // namespace headlab::inline HEADLAB_SCALAR
