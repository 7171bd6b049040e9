// Scores without ground truth: which keys each asks for, and hand-built heads that must be
// recognised as what they are.
#include "lab/heads/scores/scored_queries.h"

#include <cmath>
#include <string_view>

#include "headlab/core/tasks/table.h"
#include "support/hand_built.h"
#include "support/induction_pair.h"
#include "support/models.h"
#include "support/scripted.h"

namespace headlab { namespace {

const ScoreEntry& score_named(std::string_view name) {
  for (const ScoreEntry& score : score_table())
    if (name == score.name && score.from.weight != nullptr) return score;
  throw Error(text("no pattern score ", name));
}

/// Tokens as given for every sequence; token 3 is shown as a separator.
class Written : public Scripted {
 public:
  Written(std::vector<std::int32_t> tokens, Architecture architecture = Architecture::decoder)
      : Scripted([](Index, Index t) { return t < 1 ? -1 : t - 1; }, true),
        tokens_(std::move(tokens)),
        architecture_(architecture) {}
  TaskShape shape() const override {
    return {architecture_, 4, static_cast<Index>(tokens_.size()), 1};
  }
  std::string token_text(std::int32_t token) const override { return token == 3 ? "|" : "a"; }
  Example make(Key, Index count, Split) const override {
    Example example{Batch::make(count, std::ssize(tokens_)), std::vector<GroundTruth>(1), {}};
    for (Index b = 0; b < count; ++b) {
      for (Index t = 0; t < std::ssize(tokens_); ++t) {
        example.batch.token(b, t) = tokens_[static_cast<std::size_t>(t)];
        if (t > 0) example.truth[0].add(b, t, static_cast<std::int32_t>(t - 1));
      }
    }
    return example;
  }

 private:
  std::vector<std::int32_t> tokens_;
  Architecture architecture_;
};

/// "t: keys" of a pattern score on one sequence.
std::string asked(const std::string& name, const Written& task, bool causal) {
  const Batch batch = task.make(Key{}, 1, Split::validation).batch;
  const auto facts = facts_of(batch, task);
  const GroundTruth truth =
      pattern_truth(score_named(name), {batch, AttentionKind::self, causal}, facts);
  std::string all;
  for (Index i = 0; i < truth.queries(); ++i) {
    all += text(i > 0 ? " " : "", truth.query(i).t, ":");
    for (const std::int32_t key : truth.query(i).keys) all += text(key);
  }
  return all;
}

TEST(PatternScores, AskForTheKeysThatTheyName) {
  const Written task({0, 1, 3, 0, 1, 0});
  EXPECT_EQ(asked("previous", task, true), "1:0 2:1 3:2 4:3 5:4");
  EXPECT_EQ(asked("next", task, true), "");
  EXPECT_EQ(asked("first", task, true), "1:0 2:0 3:0 4:0 5:0");
  EXPECT_EQ(asked("local", task, true), "3:123 4:234 5:345");
  EXPECT_EQ(asked("separator", task, true), "2:2 3:2 4:2 5:2");
  EXPECT_EQ(asked("same", task, true), "3:0 4:1 5:03");
  EXPECT_EQ(asked("induction", task, true), "3:1 4:2 5:14");
  EXPECT_EQ(asked("rare", task, true), "1:1 2:2 3:2 4:2 5:2");
}

TEST(PatternScores, CountKeysAfterTheQueryInAnEncoder) {
  const Written task({0, 1, 3, 0}, Architecture::encoder);
  EXPECT_EQ(asked("next", task, false), "0:1 1:2 2:3");
  EXPECT_EQ(asked("same", task, false), "0:3 3:0");
  EXPECT_EQ(asked("induction", task, false), "3:1");  // the token after the query itself is no hit
  EXPECT_EQ(asked("local", task, false), "0:012 3:123");
}

TEST(PatternScores, ReadTheSourceInCrossAttention) {
  Batch batch = Batch::make(1, 2, 1, 3);
  batch.tokens = {1, 2}, batch.source = {1, 2, 1}, batch.source_lengths = {3};
  const std::vector<TokenFacts> facts(4);
  const Mask mask{batch, AttentionKind::cross, true};
  const GroundTruth same = pattern_truth(score_named("same"), mask, facts);
  ASSERT_EQ(same.queries(), 2);
  EXPECT_EQ(same.keys(0, 0).size(), 2u);  // key 0 is no query here
  EXPECT_EQ(same.keys(0, 1)[0], 1);
  EXPECT_EQ(pattern_truth(score_named("induction"), mask, facts).keys(0, 1)[0], 2);
}

/// Heads that look 1 back, 3 back, at the last of the same class, and everywhere.
class HandBuiltPatterns : public testing::Test {
 protected:
  HandBuiltPatterns()
      : task_(make_task("relations:length=10,vocab=6,classes=3,relations=1+3+same")),
        model_(hand_built(task_->shape(), 3, {1, 3, kSame, kUniform})),
        report_(score_heads(model_, *task_, {.examples = 100, .patterns_only = true})) {}

  std::unique_ptr<Task> task_;
  Transformer model_;
  HeadsReport report_;
};

TEST_F(HandBuiltPatterns, PreviousTokenHeadScoresOne) {
  const HeadScores& head = report_.heads[0];
  EXPECT_EQ(head.value("previous"), 1);
  EXPECT_EQ(head.value("local"), 1);
  EXPECT_EQ(head.value("confidence"), 1);
  EXPECT_NEAR(head.value("distance"), 0.9, 1e-12);  // the first token has only itself
  EXPECT_EQ(head.offsets.front().offset, -1);
  EXPECT_EQ(head.offsets.front().share, 1);
  EXPECT_EQ(head.labels, std::vector<std::string>{"positional -1 (900)"});
  EXPECT_TRUE(std::isnan(head.value("next")));
  EXPECT_TRUE(std::isnan(head.value("separator")));
}

TEST_F(HandBuiltPatterns, LabelKnownKindsOfHeads) {
  EXPECT_EQ(report_.heads[1].labels, std::vector<std::string>{"positional -3 (700)"});
  const Index queries = report_.heads[2].relations[2].queries;
  EXPECT_EQ(report_.heads[2].labels,
            std::vector<std::string>{text("syntactic same (", queries, ")")});
  EXPECT_TRUE(report_.heads[3].labels.empty());
}

TEST_F(HandBuiltPatterns, UniformAttentionScoresTheShareOfKeys) {
  const HeadScores& head = report_.heads[3];
  double local = 0, distance = 0, confidence = 0;
  for (int t = 0; t < 10; ++t) {
    local += t >= 3 ? 3.0 / (t + 1) / 7 : 0;
    distance += t / 2.0 / 10;
    confidence += 1.0 / (t + 1) / 10;
  }
  EXPECT_NEAR(head.value("local"), local, 10 * kEpsilon);
  EXPECT_NEAR(head.value("distance"), distance, 20 * kEpsilon * distance);
  EXPECT_NEAR(head.value("confidence"), confidence, 10 * kEpsilon);
}

TEST_F(HandBuiltPatterns, LieApartByTheirDistances) {
  const auto distance = [&](std::size_t a, std::size_t b) { return report_.distances[a * 4 + b]; };
  // 1 back and 3 back agree on the first token, and where both have only the first to look at.
  EXPECT_NEAR(distance(0, 1), 0.8 * std::sqrt(std::log(2)), 1e-6);
  for (std::size_t a = 0; a < 4; ++a) {
    EXPECT_EQ(distance(a, a), 0);
    for (std::size_t b = 0; b < 4; ++b) EXPECT_EQ(distance(a, b), distance(b, a));
  }
}

TEST_F(HandBuiltPatterns, DoNotDependOnTheBatch) {
  for (const Index batch : {1, 7, 100}) {
    const HeadsReport other =
        score_heads(model_, *task_, {.examples = 100, .batch = batch, .patterns_only = true});
    EXPECT_EQ(to_json(other).dump(), to_json(report_).dump()) << batch;
  }
}

TEST_F(HandBuiltPatterns, CanBeLeftOut) {
  const HeadsReport report =
      score_heads(model_, *task_, {.examples = 100, .without_truth = false, .patterns_only = true});
  EXPECT_TRUE(std::isnan(report.heads[0].value("previous")));
  EXPECT_EQ(report.heads[0].value("entropy"), report_.heads[0].value("entropy"));
  EXPECT_TRUE(report.distances.empty());
  EXPECT_EQ(to_json(report).at("heads").items()[0].find("patterns"), nullptr);
  EXPECT_EQ(to_json(report).at("relations").dump(), to_json(report_).at("relations").dump());
}

TEST_F(HandBuiltPatterns, KnowTheRankOfTheOutput) {
  // Values are the position, so z is the place of the key: the first twice, eight others once.
  MultiHeadAttention& attention = model_.attention(0);
  const Index C = model_.config().d_model;
  for (Index t = 0; t < 10; ++t) attention.V.W.data()[t * 4 * C + t] = 1;
  const HeadsReport report = score_heads(model_, *task_, {.examples = 20, .patterns_only = true});
  const double sum = std::sqrt(2) + 8;
  const double entropy =
      -std::sqrt(2) / sum * std::log(std::sqrt(2) / sum) + 8 / sum * std::log(sum);
  EXPECT_NEAR(report.heads[0].value("rank"), std::exp(entropy), 1e-4);  // embeddings are 1 exactly
  EXPECT_EQ(report.heads[1].value("rank"), 0);                          // its values are 0
}

TEST(InductionPair, IsRecognised) {
  const auto task = make_task("induction");
  Transformer model = induction_pair(task->shape());
  const HeadsReport report = score_heads(model, *task, {.examples = 60, .patterns_only = true});
  EXPECT_EQ(report.heads[0].value("previous"), 1);
  EXPECT_TRUE(report.heads[0].labels.front().starts_with("positional -1 ("));
  EXPECT_GT(report.heads[1].value("induction"), 0.9);  // the first token precedes itself
  EXPECT_LT(report.heads[0].value("induction"), 0.2);
  for (const RelationWinner& winner : report.relations)
    EXPECT_TRUE(winner.owned) << winner.relation.name;
  EXPECT_EQ(report.specialization, 1);
}

TEST(FixedPeriods, MakeAnOffsetLookLikeInductionAndTheLabelTells) {
  const Written task({0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  Transformer model = hand_built(task.shape(), 1, {3});
  const HeadScores head =
      score_heads(model, task, {.examples = 20, .patterns_only = true}).heads[0];
  EXPECT_NEAR(head.value("induction"), (4 + 4 * 0.5) / 8, 0.26);  // one of two keys in the end
  EXPECT_EQ(head.labels, std::vector<std::string>{"positional -3 (180)"});
  const HeadsReport few =
      score_heads(model, task, {.examples = 19, .patterns_only = true});  // nine are judged
  EXPECT_TRUE(few.heads[0].labels.empty());
}

/// One token that is rare, at a place that changes; the others are common.
class OneRareToken : public Scripted {
 public:
  OneRareToken() : Scripted(nullptr) {}
  Example make(Key, Index count, Split) const override {
    Example example{Batch::make(count, 8), std::vector<GroundTruth>(1), {}};
    for (Index b = 0; b < count; ++b)
      for (Index t = 0; t < 8; ++t)
        example.batch.token(b, t) = static_cast<std::int32_t>(t == b / 2 % 4 ? 3 : t % 2);
    return example;
  }
};

TEST(RareWordHeads, AreLabelled) {
  const OneRareToken task;
  Transformer model = hand_built(task.shape(), 4, {kUniform, kUniform});
  Tensor& bias = model.attention(0).Q.b;
  bias.data()[8 + 3] = 1e5;  // the first head's query, for the class of token 3
  const HeadsReport report = score_heads(model, task, {.examples = 40, .patterns_only = true});
  EXPECT_EQ(report.heads[0].labels, std::vector<std::string>{"rare (125)"});  // 7, 7, 6 or 5 each
  EXPECT_TRUE(report.heads[1].labels.empty());
  EXPECT_GT(report.heads[0].value("rare"), 0.8);
}

}  // namespace
}  // namespace headlab
