// p-values: patterns that have nothing to do with the ground truth get a uniform p, perfect ones
// the smallest that there is; and what permuted ground truth may look like.
#include "lab/heads/scores/scored_queries.h"

#include <cmath>
#include <set>

#include "headlab/core/base/text.h"
#include "headlab/core/tasks/table.h"
#include "headlab/lab/heads/scores/scores.h"
#include "support/hand_built.h"
#include "support/models.h"
#include "support/scripted.h"

namespace headlab { namespace {

/// One key for most queries from position 3 on, anywhere before; not all examples are asked.
Example random_truth(Index examples, Index length, Key key) {
  Generator random(key);
  Example example{Batch::make(examples, length), std::vector<GroundTruth>(1), {}};
  for (Index b = 0; b < examples; ++b) {
    for (Index t = 3; t < length; ++t)
      if (random.uniform() < 0.8)
        example.truth[0].add(b, t, static_cast<std::int32_t>(random.below(t)));
  }
  return example;
}

QuerySet content_of(const Example& example) {
  return relation_queries(example, {{"content", "", false}}, 0, true);
}

/// Three even examples ask for the key before, four odd ones for the one 2 or, mostly, 3 back; the
/// candidates are the key before, and the first.
TEST(ScoredQueries, ChoosesAnOffsetOnTheEvenExamplesAndJudgesItOnTheOdd) {
  Example example{Batch::make(8, 8), std::vector<GroundTruth>(1), std::vector<GroundTruth>(1)};
  for (Index b = 1; b < 8; ++b)
    for (Index t = 3; t < 8; ++t) {
      const auto key = static_cast<std::int32_t>(b % 2 == 0 ? t - 1 : t == 3 ? 1 : t - 3);
      example.truth[0].add(b, t, key);
      const std::int32_t candidates[] = {0, static_cast<std::int32_t>(t - 1)};
      example.candidates[0].add(b, t, candidates);
    }
  const QuerySet set = content_of(example);
  EXPECT_EQ(set.best_offset, -1) << "-3 is best on the odd ones";
  EXPECT_EQ(set.splits[0].offset_right, 15);
  EXPECT_EQ(set.splits[1].offset_right, 0);
  EXPECT_EQ(set.splits[0].nearest_right, 15);
  EXPECT_EQ(set.splits[1].nearest_right, 0);
  EXPECT_EQ(set.splits[1].examples, 4);
  Index judged = 0;
  for (const EligibleQuery& query : set.queries)
    EXPECT_EQ(query.judged, query.b % 2 == 0 ? -1 : judged++);
  EXPECT_EQ(judged, 20);
}

TEST(PermutedTruth, IsExchangedAmongQueriesAtTheSamePosition) {
  const Example example = random_truth(40, 8, Key{1});
  const QuerySet set = content_of(example);
  const PermutedTruth permuted(set, 199, Key{2});
  EXPECT_EQ(permuted.different(), 199);
  for (Index p = 0; p < 199; ++p) {
    std::map<Index, std::multiset<std::int32_t>> truth, drawn;
    for (const EligibleQuery& query : set.queries) {
      if (query.judged >= 0) {
        truth[query.t].insert(query.keys[0]);
        drawn[query.t].insert(permuted.keys(query.judged, p)[0]);
      }
    }
    ASSERT_EQ(drawn, truth) << p;
  }
}

TEST(PermutedTruth, IsDrawnOnceForTheSameQueries) {
  const Example example = random_truth(40, 8, Key{1}), other = random_truth(40, 8, Key{3});
  const QuerySet set = content_of(example), another = content_of(other);
  const auto first = PermutedTruth::of(set, 199, Key{2});
  EXPECT_EQ(PermutedTruth::of(set, 199, Key{2}), first);
  EXPECT_NE(PermutedTruth::of(set, 200, Key{2}), first);
  EXPECT_NE(PermutedTruth::of(another, 199, Key{2}), first);
  QuerySet moved = set;
  std::ranges::find(moved.queries, 0, &EligibleQuery::judged)->seen.end += 1;
  EXPECT_NE(PermutedTruth::of(moved, 199, Key{2}), PermutedTruth::of(set, 199, Key{2}));
  EXPECT_EQ(PermutedTruth::of(another, 199, Key{2})->keys(0, 5)[0],
            PermutedTruth(another, 199, Key{2}).keys(0, 5)[0]);
}

TEST(PermutedTruth, IsExchangedAmongQueriesThatSeeAsManyKeys) {
  Example example{Batch::make(40, 8), std::vector<GroundTruth>(1), {}};
  const auto length_of = [](Index b) { return b / 2 % 2 == 0 ? 6 : 8; };
  for (Index b = 0; b < 40; ++b) {
    example.batch.lengths.push_back(length_of(b));
    for (Index t = 0; t < 4; ++t) {  // each position and length has keys of its own
      example.truth[0].add(b, t,
                           static_cast<std::int32_t>(b / 4 % 2 + 2 * (t % 2) + length_of(b) - 4));
    }
  }
  const QuerySet set = relation_queries(example, {{"content", "", false}}, 0, false);
  const PermutedTruth permuted(set, 199, Key{7});
  EXPECT_GT(permuted.different(), 190);
  for (const EligibleQuery& query : set.queries) {
    for (Index p = 0; query.judged >= 0 && p < 199; ++p) {
      const Index lowest = 2 * (query.t % 2) + length_of(query.b) - 4;
      const std::int32_t key = permuted.keys(query.judged, p)[0];
      ASSERT_TRUE(key == lowest || key == lowest + 1) << query.t << " " << key;
    }
  }
}

TEST(PermutedTruth, KeepsTheGroundTruthOfAnExampleTogetherWhereAllAreEligible) {
  Example example{Batch::make(20, 8), std::vector<GroundTruth>(1), {}};
  for (Index b = 0; b < 20; ++b)
    for (Index t = 4; t < 8; ++t)
      example.truth[0].add(b, t, static_cast<std::int32_t>((b / 2 + t) % 4));
  const QuerySet set = content_of(example);
  const PermutedTruth permuted(set, 199, Key{3});
  for (Index p = 0; p < 199; ++p) {
    for (std::size_t i = 0; i + 1 < set.queries.size(); ++i) {
      const EligibleQuery &query = set.queries[i], &next = set.queries[i + 1];
      if (query.judged < 0 || next.b != query.b) continue;
      EXPECT_EQ((permuted.keys(query.judged, p)[0] + 1) % 4, permuted.keys(next.judged, p)[0]);
    }
  }
}

TEST(PermutedTruth, GivesEachQueryTheGroundTruthOfEachOtherEquallyOften) {
  Example example{Batch::make(10, 8), std::vector<GroundTruth>(1), {}};
  for (Index b = 0; b < 10; ++b) example.truth[0].add(b, 7, static_cast<std::int32_t>(b / 2));
  const PermutedTruth permuted(content_of(example), 5000, Key{4});
  double counts[5][5] = {};
  for (Index p = 0; p < 5000; ++p)
    for (Index j = 0; j < 5; ++j) ++counts[j][permuted.keys(j, p)[0]];
  for (const auto& row : counts)
    for (const double count : row)
      EXPECT_NEAR(count, 1000, 5 * std::sqrt(5000 * 0.2 * 0.8));  // five standard deviations
}

TEST(PermutedTruth, PositionalRelationDrawsVisibleKeysUniformly) {
  Example example{Batch::make(2, 5), std::vector<GroundTruth>(1), {}};
  example.truth[0].add(1, 3, 2);
  const std::int32_t pair[] = {0, 1};
  example.truth[0].add(1, 4, pair);
  const PermutedTruth permuted(relation_queries(example, {{"back1", "", true}}, 0, true), 4000,
                               Key{5});
  double one[4] = {}, two[5] = {};
  for (Index p = 0; p < 4000; ++p) {
    ++one[permuted.keys(0, p)[0]];
    const auto keys = permuted.keys(1, p);
    ASSERT_EQ(keys.size(), 2u);
    ASSERT_LT(keys[0], keys[1]);
    ++two[keys[0]], ++two[keys[1]];
  }
  for (const double count : one) EXPECT_NEAR(count, 1000, 5 * std::sqrt(4000 * 0.25 * 0.75));
  for (const double count : two) EXPECT_NEAR(count, 1600, 5 * std::sqrt(4000 * 0.4 * 0.6));
}

TEST(PermutedTruth, SaysHowFewExchangesThereAre) {
  Example example{Batch::make(6, 4), std::vector<GroundTruth>(1), {}};
  for (Index b = 0; b < 6; ++b) example.truth[0].add(b, 3, static_cast<std::int32_t>(b / 2));
  EXPECT_EQ(PermutedTruth(content_of(example), 199, Key{6}).different(), 5);  // 3! - 1
  Example constant{Batch::make(6, 4), std::vector<GroundTruth>(1), {}};
  for (Index b = 0; b < 6; ++b) constant.truth[0].add(b, 3, 1);
  EXPECT_EQ(PermutedTruth(content_of(constant), 199, Key{6}).different(), 0);
}

/// Tokens and ground truth are drawn separately for each seed: no head can know the ground truth.
/// Patterns are those of random models.
class Unrelated : public Scripted {
 public:
  Unrelated(std::uint64_t seed, bool positional) : Scripted(nullptr, positional), seed_(seed) {}
  Example make(Key, Index count, Split) const override {
    Example example = random_truth(count, 8, Key{seed_}.fold("gold"));
    Generator random(Key{seed_}.fold("tokens"));
    for (std::int32_t& token : example.batch.tokens)
      token = static_cast<std::int32_t>(random.below(4));
    return example;
  }

 private:
  std::uint64_t seed_;
};

/// The smallest p over the heads of random models, one for each of 300 seeds.
std::vector<double> smallest_p(Index heads, bool positional) {
  std::vector<double> all;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Unrelated task(seed, positional);
    TransformerConfig config = small_config();
    config.layers = 1, config.heads = {heads}, config.vocab = 4, config.length = 8;
    Transformer model = random_model(config, Key{seed});
    double smallest = 1;
    for (const HeadScores& head :
         score_heads(model, task, {.examples = 24, .without_truth = false, .patterns_only = true})
             .heads)
      smallest = std::min(smallest, head.relations[0].p_permuted);
    all.push_back(smallest);
  }
  return all;
}

/// The largest distance of the shares at most x from x (Kolmogorov-Smirnov).
double distance_from_uniform(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double distance = 0;
  const double count = static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double below = static_cast<double>(i) / count, upto = static_cast<double>(i + 1) / count;
    distance = std::max({distance, std::abs(values[i] - below), std::abs(values[i] - upto)});
  }
  return distance;
}

TEST(P, IsUniformForHeadsUnrelatedToTheGroundTruth) {
  // 1.95 / sqrt(n) is exceeded by chance once in a thousand; p has steps of 1/200.
  const double bound = 1.95 / std::sqrt(300) + 1.0 / 200;
  for (const bool positional : {false, true}) {
    for (const Index heads : {1, 4}) {
      const std::vector<double> all = smallest_p(heads, positional);
      EXPECT_LT(distance_from_uniform(all), bound) << heads << " heads, " << positional;
    }
  }
}

TEST(P, PerfectHeadGetsSmallestPossibleP) {
  const auto task = make_task("relations:length=10,vocab=6,classes=3,relations=1+same");
  Transformer model = hand_built(task->shape(), 3, {1, kSame, kUniform});
  for (const Index permutations : {199, 499}) {
    const HeadsReport report =
        score_heads(model, *task,
                    {.examples = 60, .permutations = permutations, .patterns_only = true});
    for (std::size_t r = 0; r < 2; ++r) {
      // Two relations are decided by 200: what is left of the smallest p must be below .01.
      const double least = 1.0 / static_cast<double>(std::max<Index>(200, permutations) + 1);
      EXPECT_EQ(report.relations[r].p, least);
      EXPECT_EQ(report.heads[r].relations[r].p, least);
      EXPECT_EQ(report.heads[r].relations[r].p_holm, 2 * least);
      EXPECT_TRUE(report.relations[r].owned);
    }
    const Result result = result_of(report);
    const Column p = result.table("relations").column("best.p_holm");
    const double least = 2.0 / static_cast<double>(std::max<Index>(200, permutations) + 1);
    EXPECT_EQ(p.floors, std::vector<double>{least});
    EXPECT_NE(p.meaning.find(text("allows ", significant(least))), p.meaning.npos) << p.meaning;
    EXPECT_EQ(report.heads[2].relations[0].p, 1);  // some head does better on any ground truth
  }
}

TEST(P, PositionalGroundTruthGivesAPOfOne) {
  const Scripted task([](Index, Index t) { return t < 2 ? -1 : t - 2; });
  Transformer model = hand_built(task.shape(), 1, {2});
  const HeadsReport report = score_heads(model, task, {.examples = 40, .patterns_only = true});
  EXPECT_EQ(report.heads[0].relations[0].mass, 1);
  EXPECT_EQ(report.relations[0].exchanges, 0);
  EXPECT_EQ(report.relations[0].p, 1);
  EXPECT_FALSE(report.relations[0].owned);
}

TEST(Owners, NeedBothASmallPAndALift) {
  // A head that is right once in four, where the others look at key 0: significant, little lift.
  const Scripted task([](Index b, Index t) {
    return t < 5 ? -1 : b / 2 % 4 == 0 ? t - 1 : b / 2 % 4;
  });
  Transformer model = hand_built(task.shape(), 1, {1});
  const HeadsReport weak = score_heads(model, task, {.examples = 400, .patterns_only = true});
  EXPECT_LT(weak.heads[0].relations[0].lift, kOwnerLift);
  EXPECT_FALSE(weak.relations[0].owned);
  // Two judged examples: a perfect head, and one exchange only.
  const auto relations = make_task("relations:length=10,vocab=6,classes=3,relations=same");
  Transformer perfect = hand_built(relations->shape(), 3, {kSame});
  const HeadsReport few = score_heads(perfect, *relations, {.examples = 4, .patterns_only = true});
  EXPECT_GE(few.heads[0].relations[0].lift, kOwnerLift);
  EXPECT_TRUE(std::isnan(few.relations[0].p));
  EXPECT_EQ(few.relations[0].exchanges, 1);
  EXPECT_FALSE(few.relations[0].owned);
}

TEST(Owners, AreNotFoundInRandomModels) {
  const auto task = make_task("relations");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Transformer model = random_model(small_config("vocab=16 length=16 targets=4"), Key{seed});
    for (const RelationWinner& winner :
         score_heads(model, *task, {.examples = 64, .patterns_only = true}).relations)
      EXPECT_FALSE(winner.owned) << seed << " " << winner.relation.name;
  }
}

TEST(Owners, AreHeadsOfTheRelationsKindAlone) {
  class OfTheEncoder : public Scripted {
   public:
    using Scripted::Scripted;
    std::vector<Relation> relations() const override {
      return {{"scripted", "", true, AttentionKind::encoder}};
    }
  };
  const OfTheEncoder task([](Index, Index t) { return t < 1 ? -1 : t - 1; });
  Transformer model = hand_built(task.shape(), 1, {1});
  const HeadsReport report = score_heads(model, task, {.examples = 40, .patterns_only = true});
  EXPECT_EQ(report.relations[0].candidates, 0);
  EXPECT_FALSE(report.relations[0].owned);
  EXPECT_EQ(report.heads[0].relations[0].queries, 0);
  EXPECT_TRUE(std::isnan(report.relations[0].p));
  EXPECT_TRUE(to_json(report).at("relations").items()[0].at("best").is_null());
}

}  // namespace
}  // namespace headlab
