// Quantities of one prompt: values from logits by hand, and the same quantity in patching,
// attribution and the lens.
#include "headlab/lab/heads/causes/named_answer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "headlab/core/tasks/table.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/lab/heads/causes/attribution.h"
#include "headlab/lab/heads/causes/lens.h"
#include "headlab/lab/heads/causes/node_patching.h"
#include "lab/heads/causes/contrasts.h"
#include "support/errors.h"
#include "support/models.h"

namespace headlab { namespace {

/// A random model of a task with two targets, and the prompt "a b c d".
struct Asked {
  std::unique_ptr<Task> task = make_task("relations:length=8,vocab=6,classes=3,relations=1+same");
  TransformerConfig config = small_config("");
  Transformer model = made();
  Batch prompt = task->example_of(task->encode("a b c d")).batch;

  Transformer made() {
    config.shape() = task->shape();
    return random_model(config);
  }
  /// Returns the logits of a target at a position of the prompt.
  std::vector<double> logits(Index position, Index target) const {
    const NoGrad no_grad;
    const Tensor all = model.forward(prompt);
    const Scalar* row = all.data() + (position * 2 + target) * 6;
    return {row, row + 6};
  }
};

double log_probability(const std::vector<double>& logits, std::size_t answer) {
  double sum = 0;
  for (const double one : logits) sum += std::exp(one);
  return logits[answer] - std::log(sum);
}

TEST(ValueAt, IsADifferenceOfLogitsOrALogProbability) {
  const Tensor logits = Tensor::of({1, 3}, {1, 2, 4});
  EXPECT_DOUBLE_EQ(value_at(logits, 3, {0, 2, 0}), 3);
  const double sum = std::exp(1.0) + std::exp(2.0) + std::exp(4.0);
  EXPECT_NEAR(value_at(logits, 3, {0, 1, -1}), 2 - std::log(sum), 1e-12);
}

TEST(ValueAt, GradientAgreesWithDifferences) {
  for (const Contrast one : {Contrast{1, 2, 0}, Contrast{1, 2, -1}}) {
    const Tensor logits = Tensor::of({2, 3}, {0, 0, 0, 0.5f, -1, 2});
    const Tensor gradient = gradient_of_mean(logits, 3, {one});
    constexpr Scalar kStep = 1.0f / 64;
    for (Index i = 0; i < 6; ++i) {
      const Tensor more = logits.clone(), less = logits.clone();
      more.data()[i] += kStep;
      less.data()[i] -= kStep;
      const double slope = (value_at(more, 3, one) - value_at(less, 3, one)) / (2 * double(kStep));
      EXPECT_NEAR(double(gradient.data()[i]), slope, 1e-4) << i;
    }
  }
}

TEST(FindAnswer, TakesTheLastPositionAndTheFirstChoice) {
  const Asked asked;
  const NamedAnswer found = find_answer(asked.model, *asked.task, asked.prompt, {});
  EXPECT_EQ(found.position, 3);
  EXPECT_TRUE(found.is_chosen);
  const std::vector<double> logits = asked.logits(3, 0);
  EXPECT_EQ(found.answer, std::ranges::max_element(logits) - logits.begin());
  EXPECT_NE(found.said.find(", the first choice of the model at position 3, target back1"),
            std::string::npos)
      << found.said;
}

TEST(FindAnswer, ErrorsNameTheSettingAndTheWord) {
  const Asked asked;
  const auto refuses = [&](const AnswerWords& words, const std::vector<std::string>& parts) {
    expect_error([&] { find_answer(asked.model, *asked.task, asked.prompt, words); }, parts);
  };
  refuses({.answer = "z"}, {"cannot use `answer`: unknown token 'z'"});
  refuses({.answer = "a b"}, {"cannot use `answer`: expected one token, got 2: 'a b'"});
  refuses({.answer = "a", .against = "y"}, {"cannot use `against`: unknown token 'y'"});
  refuses({.answer = "a", .against = "a"}, {"cannot use `against` a: it is the same as `answer`"});
  refuses({.position = 4}, {"cannot use `position` 4: the input has positions 0 to 3"});
  refuses({.target = "back2"}, {"cannot use `target`: unknown target 'back2'", "'back1'"});
}

TEST(PromptLens, EndsWithTheValueOfTheModel) {
  const Asked asked;
  for (const AnswerWords& words :
       {AnswerWords{.answer = "c", .against = "a", .position = 2, .target = "same"},
        AnswerWords{.answer = "c", .position = 2, .target = "same"}}) {
    const NamedAnswer found = find_answer(asked.model, *asked.task, asked.prompt, words);
    const PromptLens report = read_lens(asked.model, *asked.task, asked.prompt, found);
    const std::vector<double> logits = asked.logits(2, 1);
    const double value = words.against.empty() ? log_probability(logits, 2) : logits[2] - logits[0];
    EXPECT_NEAR(report.places.back().value, value, 1e-5);
    const auto larger = std::ranges::count_if(logits, [&](double x) { return x > logits[2]; });
    EXPECT_EQ(report.places.back().rank, 1 + larger);
    double sum = report.places[0].value;
    for (std::size_t i = 1; i < report.places.size(); ++i) sum += report.places[i].change;
    EXPECT_NEAR(sum, value, 1e-5);
  }
}

TEST(PromptAttribution, PartsSumToTheValueOfTheModel) {
  const Asked asked;
  for (const AnswerWords& words : {AnswerWords{.answer = "b", .against = "f", .position = 1},
                                   AnswerWords{.answer = "b", .position = 1}}) {
    const NamedAnswer found = find_answer(asked.model, *asked.task, asked.prompt, words);
    const AttributionReport report = attribute_logits(asked.model, asked.prompt, found);
    const std::vector<double> logits = asked.logits(1, 0);
    const double value = words.against.empty() ? log_probability(logits, 1) : logits[1] - logits[5];
    EXPECT_NEAR(report.logits[0], value, 1e-4);
    EXPECT_EQ(report.parts.back() == "softmax", words.against.empty());
  }
}

TEST(OwnPair, MeasuresTheNamedAnswersOfBothInputs) {
  const Asked asked;
  const PatchPairs difference =
      own_pair(asked.model, *asked.task, "a b c d", "b b c d", {.answer = "a", .against = "b"});
  const std::vector<double> logits = asked.logits(3, 0);
  EXPECT_NEAR(patch_activations(asked.model, difference).clean, logits[0] - logits[1], 1e-5);
  const PatchPairs single =
      own_pair(asked.model, *asked.task, "a b c d", "b b c d", {.answer = "a"});
  const PatchDirection nodes = patch_nodes(asked.model, single, false);
  EXPECT_NEAR(nodes.base, log_probability(logits, 0), 1e-5);
  EXPECT_EQ(nodes.quantity, "log-probability");
  const auto last =
      std::ranges::find_if(nodes.nodes.rbegin(), nodes.nodes.rend(),
                           [](const PatchedNode& node) { return node.position == 3; });
  EXPECT_NEAR(last->effect.mean, 1, 1e-4) << "the last stream at this position decides the answer";
}

TEST(PatchPairs, HaveOneShapeWhetherTheyNameTheirQuantitiesOrNot) {
  const Asked asked;
  PatchPairs pairs;
  pairs.clean = asked.prompt;
  pairs.corrupted = asked.task->example_of(asked.task->encode("a b c")).batch;
  EXPECT_THROW(contrasts_of(pairs), Error);
  pairs.contrasts = {{0, 1, 2}};
  EXPECT_THROW(contrasts_of(pairs), Error);
  pairs.corrupted = asked.prompt;
  EXPECT_EQ(contrasts_of(pairs).size(), 1u);
}

TEST(OwnPair, SaysWhoseAnswersAreMeasured) {
  const Asked asked;
  EXPECT_EQ(own_pair(asked.model, *asked.task, "a b c d", "b b c d").said,
            "your inputs; the answers are those of the task, at all positions");
  EXPECT_EQ(own_pair(asked.model, *asked.task, "a b c d", "b b c d", {.answer = "a"}).said,
            "your inputs; the quantity is the log-probability of 'a' at position 3, target back1");
}

}}  // namespace headlab
