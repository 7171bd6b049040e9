// A model is better than guessing if the upper end of the interval of its loss minus the entropy of
// the answers is below 0. The entropy of the answers in the same examples is slightly below that of
// all possible examples, so the guard errs on the side of refusing. Read next: statistics.h.
#include "headlab/lab/runs/guards.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "headlab/core/base/error.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/evaluate.h"

namespace headlab {
namespace {

constexpr Guard kGuards[] = {
    {kGuessingGuard,
     "the model beats guessing on the targets of the relation, or on all its targets if the "
     "relation has none: the upper end of the 95% interval over examples of its held-out loss is "
     "below the entropy of the answers in the same examples, the loss of the best constant answer. "
     "If not, train longer"},
    {kExamplesGuard, "enough examples have a query or carry the change"},
    {kControlGuard, "enough attention is left to mask as a control"},
    {kSizeGuard, "the effect has a least size"},
    {kArmsGuard, "the arms have the same task, data and test examples, and curves the same sizes"},
    {kSizesGuard, "the next smaller number of heads was tried, so that the number is exact"},
    {kFailuresGuard, "no arm fails in some seeds"},
    {kSeedsGuard, "the seeds can reach p below 0.05 in all comparisons of the report"}};

/// Counts of the answers to one of the K targets of a position.
using AnswerCounts = std::map<std::int32_t, double>;

/// Returns the entropy of answers with these counts, in nats: the loss of the best constant answer.
double entropy_of(const AnswerCounts& counts) {
  double total = 0;
  for (const auto& [answer, count] : counts) {
    total += count;
  }
  double entropy = 0;
  for (const auto& [answer, count] : counts) {
    entropy -= count / total * std::log(count / total);
  }
  return entropy;
}

/// Returns the entropy of each of the K targets.
std::vector<double> entropies_of(const Batch& examples) {
  const auto each = static_cast<std::size_t>(examples.targets_per_position);
  std::vector<AnswerCounts> counts(each);
  for (std::size_t i = 0; i < examples.targets.size(); ++i) {
    const std::int32_t answer = examples.targets[i];
    if (answer >= 0) {
      ++counts[i % each][answer];
    }
  }
  return mapped(counts, entropy_of);
}

/// Returns the number of targets of each example, and the loss of the best constant answers summed
/// over them.
std::pair<std::vector<double>, std::vector<double>> guesses_of(const Batch& examples) {
  const std::vector<double> entropies = entropies_of(examples);
  std::vector<double> targets(examples.size);
  std::vector<double> guesses(examples.size);
  const auto of_example = static_cast<std::size_t>(examples.length * examples.targets_per_position);
  for (std::size_t i = 0; i < examples.targets.size(); ++i) {
    if (examples.targets[i] < 0) {
      continue;
    }
    ++targets[i / of_example];
    guesses[i / of_example] += entropies[i % entropies.size()];
  }
  return {std::move(targets), std::move(guesses)};
}

/// Returns the ratio of two sums over examples with its 95% interval.
Interval ratio_of_sums(std::span<const double> above, std::span<const double> below) {
  const double count = std::accumulate(below.begin(), below.end(), 0.0);
  const double ratio = std::accumulate(above.begin(), above.end(), 0.0) / count;
  const auto examples = static_cast<double>(below.size());
  if (examples < 2) {
    return {ratio};
  }
  double squares = 0;
  double cubes = 0;
  for (std::size_t i = 0; i < below.size(); ++i) {
    const double residual = above[i] - ratio * below[i];
    squares += residual * residual;
    cubes += residual * residual * residual;
  }
  if (squares == 0) {
    return {ratio, ratio, ratio};
  }
  const double skew = cubes / std::pow(squares, 1.5);
  const double error = std::sqrt(squares * examples / (examples - 1)) / count;
  return SkewedMean{ratio, error * (1 + std::abs(skew)), skew}.interval();
}

}  // namespace

std::span<const Guard> guards() { return kGuards; }

AgainstGuessing against_guessing(std::span<const double> losses, const Batch& examples) {
  require(std::cmp_equal(losses.size(), examples.size),
          "cannot compare with guessing: ", losses.size(), " losses for ", examples.size,
          " examples");
  const auto [targets, guesses] = guesses_of(examples);
  const double count = std::accumulate(targets.begin(), targets.end(), 0.0);
  AgainstGuessing result;
  result.examples = std::ranges::count_if(targets, [](double own) { return own > 0; });
  if (count == 0) {
    return result;
  }
  std::vector<double> differences(losses.size());
  std::ranges::transform(losses, guesses, differences.begin(), std::minus<>());
  result.loss = std::accumulate(losses.begin(), losses.end(), 0.0) / count;
  result.guessing = std::accumulate(guesses.begin(), guesses.end(), 0.0) / count;
  result.difference = ratio_of_sums(differences, targets);
  return result;
}

std::vector<float> target_losses_of(const Model& model, const Batch& examples, Index batch) {
  const NoGrad no_grad;
  std::vector<float> losses;
  losses.reserve(examples.targets.size());
  for_parts(examples, model.shape().at_once(batch, examples.length), [&](const Batch& part, Index) {
    const Tensor found = target_losses(model.forward(part), part);
    const std::span<const Scalar> values = found.values();
    losses.insert(losses.end(), values.begin(), values.end());
  });
  return losses;
}

std::vector<double> loss_sums(std::span<const float> losses, const Batch& examples) {
  require(losses.size() == examples.targets.size(), "cannot sum losses: ", losses.size(),
          " losses for ", examples.targets.size(), " targets");
  std::vector<double> sums(examples.size);
  const auto of_example = static_cast<std::size_t>(examples.length * examples.targets_per_position);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (examples.targets[i] >= 0) {
      sums[i / of_example] += static_cast<double>(losses[i]);
    }
  }
  return sums;
}

AgainstGuessing against_guessing(const Model& model, const Batch& examples, Index batch) {
  if (examples.target_count() == 0) {
    return {};
  }
  return against_guessing(loss_sums(target_losses_of(model, examples, batch), examples), examples);
}

bool has_own_target(const Task& task, const std::string& relation) {
  return std::ranges::count(task.target_names(), relation) > 0;
}

RelationTargets targets_of(const Task& task, const Example& example, std::size_t relation) {
  const Relation asked = task.relations()[relation];
  const std::vector<std::string> names = task.target_names();
  const bool named = has_own_target(task, asked.name);
  Batch chosen = example.batch;
  for (Index b = 0; b < chosen.size; ++b) {
    for (Index t = 0; t < chosen.length; ++t) {
      const bool is_query = !example.truth[relation].keys(b, t).empty();
      for (Index k = 0; k < chosen.targets_per_position; ++k) {
        if (!is_query || (named && names[k] != asked.name)) chosen.target(b, t, k) = -1;
      }
    }
  }
  const bool none =
      chosen.target_count() == 0 && example.truth[relation].queries() >= kFewestPaired;
  if (none || asked.kind == AttentionKind::encoder) return {example.batch, false};
  return {std::move(chosen), true};
}

}  // namespace headlab
