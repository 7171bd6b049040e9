// Scores of heads whose behaviour is known: a perfect head scores exactly 1, each null what it
// must, on the split and the queries that it must.
#include "headlab/lab/heads/scores/scores.h"

#include <cmath>
#include <set>

#include "headlab/core/tasks/table.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/heads/weights/matrix.h"
#include "lab/heads/scores/labels.h"
#include "support/hand_built.h"
#include "support/models.h"
#include "support/scripted.h"

namespace headlab {
namespace {

constexpr const char* kTask = "relations:length=10,vocab=6,classes=3,relations=1+3+same";

/// Heads that look 1 back, 3 back, at the last of the same class, and everywhere.
class HandBuilt : public testing::Test {
 protected:
  HandBuilt()
      : task_(make_task(kTask)), model_(hand_built(task_->shape(), 3, {1, 3, kSame, kUniform})) {}
  HeadsReport scored(HeadsOptions options = {.examples = 100}) {
    options.patterns_only = true;
    return score_heads(model_, *task_, options);
  }
  Example examples(Index count = 100) const {
    return task_->make(streams::scored(), count, Split::validation);
  }

  std::unique_ptr<Task> task_;
  Transformer model_;
};

/// Whether the ground truth of relation r at a query shares no key with that of another relation.
bool disjoint(const Example& example, std::size_t r, const GroundTruth::Query& query) {
  for (std::size_t other = 0; other < example.truth.size(); ++other) {
    for (const std::int32_t key : example.truth[other].keys(query.b, query.t))
      if (other != r && std::count(query.keys.begin(), query.keys.end(), key) > 0) return false;
  }
  return true;
}

/// Calls visit(query) for the disjoint queries of relation r in the odd or even examples.
template <class Visit>
void for_queries(const Example& example, std::size_t r, Index odd, Visit&& visit) {
  for (Index i = 0; i < example.truth[r].queries(); ++i) {
    const GroundTruth::Query query = example.truth[r].query(i);
    if (query.b % 2 == odd && disjoint(example, r, query)) visit(query);
  }
}

/// Mean distance between the patterns of heads a and b on the odd ones of these examples.
double mean_distance(const Transformer& model, const Example& examples, HeadId a, HeadId b) {
  const Activations activations(model, examples.batch);
  const Tensor left = activations.pattern(a), right = activations.pattern(b);
  double sum = 0, rows = 0;
  for (Index example = 1; example < examples.batch.size; example += 2) {
    for (Index t = 0; t < left.size(1); ++t, ++rows) {
      const Index row = (example * left.size(1) + t) * left.size(2);
      sum += jensen_shannon_distance(t + 1, left.data() + row, right.data() + row);
    }
  }
  return sum / rows;
}

TEST_F(HandBuilt, DistancesAreMeansOverAllExamplesThatTheReportNames) {
  const HeadsReport report = scored({.examples = 512, .without_truth = true});
  ASSERT_EQ(report.examples, 512);
  const double all = mean_distance(model_, examples(512), {0, 0}, {0, 2});
  EXPECT_NEAR(report.distances[2], all, 1e-9);
  EXPECT_GT(std::abs(mean_distance(model_, examples(64), {0, 0}, {0, 2}) - all), 1e-4);
}

TEST_F(HandBuilt, PerfectHeadsScoreExactlyOne) {
  const HeadsReport report = scored();
  for (std::size_t r = 0; r < 3; ++r) {
    const RelationScore& score = report.heads[r].relations[r];
    EXPECT_EQ(score.mass, 1) << r;
    EXPECT_EQ(score.mass_all, 1) << r;
    EXPECT_EQ(score.top1, 1) << r;
    EXPECT_EQ(score.lift, 1) << r;
    EXPECT_LT(score.baseline, 1) << r;
    EXPECT_EQ(report.relations[r].best, r);
    EXPECT_TRUE(report.relations[r].owned);
  }
}

TEST_F(HandBuilt, UniformAttentionHasTheMeanShareOfGroundTruthAsItsMass) {
  const HeadsReport report = scored();
  const Example example = examples();
  for (std::size_t r = 0; r < 3; ++r) {
    double share = 0, count = 0;
    for_queries(example, r, 1, [&](const GroundTruth::Query& query) {
      share += static_cast<double>(query.keys.size()) / static_cast<double>(query.t + 1);
      ++count;
    });
    const RelationScore& score = report.heads[3].relations[r];
    EXPECT_NEAR(score.mass, share / count, 10 * kEpsilon);
    if (r < 2) {  // an offset is held against uniform attention alone
      EXPECT_NEAR(score.baseline, share / count, 10 * kEpsilon);
      EXPECT_NEAR(score.lift, 0, 20 * kEpsilon);
    } else {
      EXPECT_LT(score.lift, 0.01);
    }
  }
}

TEST_F(HandBuilt, HeadsOfOtherRelationsHaveNoMassWhereGroundTruthIsDisjoint) {
  const HeadsReport report = scored();
  // Pairs (head, relation) where the head cannot hit by looking at the first key.
  for (const auto& [other, r] : {std::pair<std::size_t, std::size_t>{0, 1}, {2, 1}, {0, 2}}) {
    EXPECT_EQ(report.heads[other].relations[r].mass, 0);
    EXPECT_EQ(report.heads[other].relations[r].top1, 0);
    EXPECT_LT(report.heads[other].relations[r].lift, 0);
  }
  // Over all queries the head that looks 1 back does find the last of the same class now and then.
  EXPECT_GT(report.heads[0].relations[2].mass_all, 0.2);
}

TEST_F(HandBuilt, QueriesWithSharedGroundTruthAreLeftOutAndTheSplitsAreEvenAndOdd) {
  const HeadsReport report = scored();
  const Example example = examples();
  for (std::size_t r = 0; r < 3; ++r) {
    Index count[2] = {0, 0};
    for (const Index odd : {0, 1})
      for_queries(example, r, odd, [&](const GroundTruth::Query&) { ++count[odd]; });
    EXPECT_EQ(report.heads[0].chosen_on[r].queries, count[0]);
    EXPECT_EQ(report.heads[0].relations[r].queries, count[1]);
    EXPECT_LT(count[0] + count[1], example.truth[r].queries());
  }
}

TEST_F(HandBuilt, EntropyAndFocusTellOneKeyFromAll) {
  const HeadsReport report = scored();
  double entropy = 0;
  for (int t = 0; t < 10; ++t) entropy += std::log(t + 1.0) / 10;
  EXPECT_NEAR(report.heads[3].value("entropy"), entropy, 10 * kEpsilon * entropy);
  EXPECT_NEAR(report.heads[3].value("focus"), 0, 10 * kEpsilon);
  for (std::size_t h = 0; h < 2; ++h) {
    EXPECT_EQ(report.heads[h].value("entropy"), 0);
    EXPECT_EQ(report.heads[h].value("focus"), 1);
  }
}

TEST_F(HandBuilt, ScoresDoNotDependOnTheBatch) {
  const std::string whole = to_json(scored({.examples = 30, .batch = 64})).dump();
  for (Index batch : {1, 7, 30})
    EXPECT_EQ(to_json(scored({.examples = 30, .batch = batch})).dump(), whole) << batch;
}

TEST_F(HandBuilt, PrunedHeadsKeepTheirNumbersAndScores) {
  const HeadsReport whole = scored();
  Transformer pruned = model_.with_heads({{1, 2}});
  const HeadsReport report = score_heads(pruned, *task_, {.examples = 100, .patterns_only = true});
  ASSERT_EQ(report.heads.size(), 2u);
  for (std::size_t h = 0; h < 2; ++h) {
    EXPECT_EQ(report.heads[h].head, static_cast<std::int32_t>(h + 1));
    for (std::size_t r = 0; r < 3; ++r)
      EXPECT_EQ(report.heads[h].relations[r].mass, whole.heads[h + 1].relations[r].mass);
  }
  EXPECT_FALSE(report.relations[0].owned);
  const Json json = to_json(report);
  EXPECT_EQ(json.at("relations").items()[1].at("owner").dump(), "[0,1]");
  EXPECT_EQ(json.at("relations").items()[2].at("owner").dump(), "[0,2]");
}

TEST_F(HandBuilt, ModelsAreOnlyRead) {
  const std::vector<double> before = values_without_gradients(model_);
  scored();
  EXPECT_EQ(values_without_gradients(model_), before);
}

TEST_F(HandBuilt, NeedsAnExampleToChooseAndOneToJudge) {
  expect_error([&] { scored({.examples = 1}); }, {"at least two examples"});
  expect_error([&] { scored({.batch = 0}); }, {"batches of 0"});
}

TEST(HeadScores, BestOffsetHasNoLiftForAContentRelation) {
  // Two classes: the last token of the same class is the one before in half of all cases.
  const auto task = make_task("relations:length=10,vocab=6,classes=2,relations=same");
  Transformer model = hand_built(task->shape(), 2, {1, 2, kSame, kUniform});
  const HeadsReport report = score_heads(model, *task, {.examples = 200, .patterns_only = true});
  const RelationScore& offset = report.heads[0].relations[0];
  EXPECT_GT(offset.mass, 0.4);
  EXPECT_EQ(offset.baseline, offset.mass);
  EXPECT_EQ(offset.lift, 0);
  EXPECT_LT(report.heads[1].relations[0].lift, -0.3);
  EXPECT_EQ(report.heads[2].relations[0].lift, 1);
  EXPECT_LT(report.heads[3].relations[0].lift, 0);
}

TEST(HeadScores, PositionalPatternHasNoLiftForAContentRelation) {
  // Key 0 in three of four sequences, else key 1: a head that always looks at key 0 is right in
  // three of four, and its average pattern says so. No single offset is.
  const Scripted task([](Index b, Index t) { return t < 2 ? -1 : Index{b / 2 % 4 == 3}; });
  Transformer model = hand_built(task.shape(), 1, {7, 1});
  const HeadsReport report = score_heads(model, task, {.examples = 16, .patterns_only = true});
  const RelationScore& first = report.heads[0].relations[0];
  EXPECT_EQ(first.mass, 0.75);
  EXPECT_EQ(first.baseline, 0.75);
  EXPECT_EQ(first.lift, 0);
  // For the head that looks 1 back the strongest null is uniform attention.
  double uniform = 0;
  for (int t = 2; t < 8; ++t) uniform += 1.0 / (t + 1) / 6;
  EXPECT_NEAR(report.heads[1].relations[0].baseline, uniform, 1e-12);
}

TEST(HeadScores, AreHeldAgainstTheKeysThatAHeadSees) {
  const auto task = make_task("relations:length=12,vocab=6,classes=2,relations=1+4");
  const Transformer model = hand_built(task->shape(), 2, {kUniform, 1}, 3);
  const HeadsReport report = score_heads(model, *task, {.examples = 40, .patterns_only = true});
  const HeadScores &uniform = report.heads[0], &owner = report.heads[1];
  double baseline = 0;  // of back1 at the queries 1 ... 11
  for (int t = 1; t < 12; ++t) baseline += 1.0 / std::min(t + 1, 3) / 11;
  for (const HeadScores& head : report.heads) {
    EXPECT_NEAR(head.relations[0].baseline, baseline, 1e-12);
    EXPECT_EQ(head.relations[1].baseline, 0) << "4 back is out of sight";
    EXPECT_EQ(head.relations[1].mass, 0);
  }
  EXPECT_NEAR(uniform.relations[0].lift, 0, 1e-6);
  EXPECT_GT(uniform.relations[0].p, kOwnerP) << "a redrawn key lies in the window";
  EXPECT_NEAR(uniform.value("focus"), 0, 1e-6);
  EXPECT_EQ(owner.relations[0].lift, 1);
  EXPECT_TRUE(report.relations[0].owned);
  EXPECT_EQ(report.relations[0].best, 1u);
  EXPECT_EQ(uniform.like, "local") << "all that it sees is near";
}

TEST(HeadScores, HeadIsChosenOnEvenAndScoredOnOddExamples) {
  const Scripted task([](Index b, Index t) { return t < 2 ? -1 : t - 1 - b % 2; });
  Transformer model = hand_built(task.shape(), 1, {2, 1});
  const HeadsReport report =
      score_heads(model, task, {.examples = 16, .untrained = &model, .patterns_only = true});
  const RelationWinner& winner = report.relations[0];
  EXPECT_EQ(winner.best, 1u);  // the one that looks 1 back
  EXPECT_FALSE(winner.owned);
  EXPECT_EQ(winner.assigned, 1u);
  EXPECT_FALSE(winner.assigned_owns);
  EXPECT_EQ(winner.mass_untrained, 0);
  EXPECT_EQ(winner.best_offset, -1);
  EXPECT_EQ(winner.offset.top1, 0);
  EXPECT_EQ(report.heads[1].chosen_on[0].mass, 1);
  EXPECT_EQ(report.heads[1].relations[0].mass, 0);
  EXPECT_EQ(report.heads[0].relations[0].mass, 1);
}

/// Tokens of one class in even sequences, of two in turns in odd ones.
class TwoClassesInOdd : public Scripted {
 public:
  using Scripted::Scripted;
  Example make(Key key, Index count, Split split) const override {
    Example example = Scripted::make(key, count, split);
    for (Index b = 1; b < count; b += 2)
      for (Index t = 1; t < 8; t += 2) example.batch.token(b, t) = 1;
    return example;
  }
};

TEST(HeadScores, HaveTheAveragePatternOfTheEvenExamplesAsANull) {
  const TwoClassesInOdd task([](Index b, Index t) { return t < 2 ? -1 : t - 1 - b % 2; });
  Transformer model = hand_built(task.shape(), 2, {kSame});
  const HeadsReport report = score_heads(model, task, {.examples = 16, .patterns_only = true});
  const RelationScore& same = report.heads[0].relations[0];
  EXPECT_EQ(same.mass, 1);
  EXPECT_LT(same.baseline, .3);  // uniform attention's; the pattern of the odd ones would have 1
}

TEST(HeadScores, AreUndefinedWhereNoQueryIsEligible) {
  // With two tokens and one class, both relations ask for key 0: no query is disjoint.
  const auto task = make_task("relations:length=2,vocab=2,classes=1,relations=1+same");
  Transformer model = hand_built(task->shape(), 1, {1});
  const HeadsReport report = score_heads(model, *task, {.examples = 10, .patterns_only = true});
  for (const RelationScore& score : report.heads[0].relations) {
    EXPECT_EQ(score.queries, 0);
    EXPECT_EQ(score.mass_all, 1);
    EXPECT_TRUE(std::isnan(score.lift));
  }
  EXPECT_FALSE(report.relations[0].owned);
  EXPECT_EQ(to_json(report).at("relations").items()[0].at("best").at("lift").dump(), "null");
  EXPECT_TRUE(to_json(report).at("relations").items()[0].at("owner").is_null());
}

TEST(HeadScores, CountAttentionLayersWithoutHeads) {
  const auto task = make_task(kTask);
  Transformer model =
      random_model(small_config("layers=3 heads=0+2+1 vocab=6 length=10 targets=3"));
  const HeadsReport report = score_heads(model, *task, {.examples = 10, .patterns_only = true});
  EXPECT_EQ(report.attention.size(), 3u);
  ASSERT_EQ(report.heads.size(), 3u);
  EXPECT_EQ(report.heads[0].attention_layer, 1);
  EXPECT_EQ(report.heads[1].attention_layer, 1);
  EXPECT_EQ(report.heads[2].attention_layer, 2);
}

TEST(HeadScores, ModelWithoutHeadsHasNone) {
  const auto task = make_task(kTask);
  Transformer model = random_model(small_config("heads=0 vocab=6 length=10 targets=3"));
  const HeadsReport report = score_heads(model, *task, {.examples = 10, .patterns_only = true});
  EXPECT_TRUE(report.heads.empty());
  EXPECT_TRUE(report.relations.empty());
  EXPECT_EQ(to_json(report).at("heads").dump(), "[]");
}

TEST(HeadScores, SeeAllKeysInAnEncoder) {
  const auto task = make_task("relations:length=10,vocab=6,classes=3,relations=1+next");
  Transformer model = hand_built(task->shape(), 3, {kUniform});
  const HeadScores head =
      score_heads(model, *task, {.examples = 20, .patterns_only = true}).heads[0];
  EXPECT_NEAR(head.relations[0].mass, 0.1, 10 * kEpsilon);
  EXPECT_NEAR(head.relations[1].baseline, 0.1, 10 * kEpsilon);
  EXPECT_NEAR(head.value("entropy"), std::log(10), 20 * kEpsilon);
}

TEST(HeadScores, HaveATableOfMeanings) {
  std::set<std::string> names;
  for (const ScoreEntry& row : score_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_STRNE(row.meaning, "");
    EXPECT_LE((row.from.weight != nullptr) + (row.from.value != nullptr) +
                  (row.from.relation != nullptr),
              1);
  }
}

TEST_F(HandBuilt, EveryRowOfTheTableThatIsANumberIsComputedAndIsInTheJson) {
  const HeadsReport report = scored();
  const Json head = to_json(report).at("heads").items()[3];
  std::set<std::string> seen;  // NaN is right where a task has nothing that a row asks for
  for (std::size_t row = 0; row < score_table().size(); ++row) {
    const ScoreEntry& score = score_table()[row];
    const bool is_expected = score.from.value != nullptr && !score.from.optional;
    EXPECT_TRUE(!is_expected || head.find(score.name) != nullptr) << score.name;
    EXPECT_EQ(score.from.weight != nullptr, head.at("patterns").find(score.name) != nullptr);
    const Json& same = head.at("scores").at("same");
    EXPECT_EQ(score.from.relation != nullptr, same.find(score.name) != nullptr) << score.name;
    const bool computed = !std::isnan(report.heads[3].values[row]);
    EXPECT_FALSE(computed && score.from.value == nullptr && score.from.weight == nullptr)
        << score.name;
    if (computed) seen.insert(score.name);
  }
  for (const char* name : {"entropy", "focus", "confidence", "distance", "rank", "previous",
                           "first", "local", "same", "induction", "rare"})
    EXPECT_TRUE(seen.contains(name)) << name;
}

TEST_F(HandBuilt, ValuesHaveNames) {
  const HeadScores head = scored().heads[3];
  expect_error([&] { head.value("entrpy"); }, {"score of heads 'entrpy'", "entropy"});
}

TEST(Scores, DrawNoConclusionFromFewerThanTenExamples) {
  // Example 1 alone, which is of split B, asks for the key before.
  const Scripted once([](Index b, Index t) { return b <= 1 && t > 1 ? t - 1 : Index{-1}; });
  const Transformer model = hand_built(once.shape(), 2, {1, kUniform});
  const HeadsReport few = score_heads(model, once, {.examples = 64, .patterns_only = true});
  const RelationScore& score = few.heads[0].relations[0];
  EXPECT_EQ(score.top1, 1);
  EXPECT_EQ(score.examples, 1);
  EXPECT_TRUE(std::isnan(score.p));
  EXPECT_FALSE(score.owns());
  EXPECT_TRUE(std::isnan(few.specialization));
  for (const HeadScores& head : few.heads)
    for (const std::string& label : head.labels) EXPECT_FALSE(label.starts_with("syntactic"));
}

}  // namespace
/// Offsets -1 and 0 of a head on two positions, of which -1 was the largest weight once.
TEST(Scores, ListEveryOffsetOfALargestWeight) {
  HeadSums head;
  head.pattern_rows.resize(2);
  head.offsets = {0, 1, 3, 0};
  head.seen_changes = {0, 2, 2, 0};
  const std::vector<HeadScores::Offset> offsets = offsets_of(head);
  ASSERT_EQ(offsets.size(), 2u);
  EXPECT_EQ(offsets[0].offset, 0);
  EXPECT_EQ(offsets[0].count, 3);
  EXPECT_DOUBLE_EQ(offsets[0].share, 0.75);
  EXPECT_EQ(offsets[1].offset, -1);
  EXPECT_EQ(offsets[1].count, 1);
  EXPECT_DOUBLE_EQ(offsets[1].share, 0.5);
}

}  // namespace headlab
