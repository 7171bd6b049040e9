// Patterns from arrays: those of a model get the scores that the model gets, and every file that
// does not fit is refused with its place.
#include "headlab/lab/heads/scores/stored_patterns.h"

#include <cmath>
#include <limits>

#include "headlab/core/base/files.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/activations.h"
#include "lab/data/sequences.h"
#include "lab/results/npy.h"
#include "support/archives.h"
#include "support/errors.h"
#include "support/folders.h"
#include "support/hand_built.h"

namespace headlab { namespace {

constexpr const char* kModelTask = "relations:length=10,vocab=6,classes=3,relations=1+3+same";

/// Words of sequence b as JSON.
Json words_of(const Task& task, const Batch& batch, Index b) {
  Json words = Json::array();
  for (Index t = 0; t < batch.length_of(b); ++t) {
    words.push_back(task.token_text(batch.token(b, t)));
  }
  return words;
}

class Stored : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) {
    write_file(folder_ / name, bytes);
    return (folder_ / name).string();
  }
  /// Writes weights of this shape and the other files; returns their names.
  StoredPatternFiles files(const std::vector<std::int64_t>& shape,
                           const std::vector<float>& weights, const std::string& tokens,
                           const std::string& truth = "") {
    StoredPatternFiles files{write("p.npy", npy_bytes(shape, weights)), write("t.json", tokens)};
    if (!truth.empty()) files.truth = write("f.jsonl", truth);
    return files;
  }
  /// Two queries and keys, one head, one example: each query attends to itself.
  StoredPatternFiles small(const std::vector<float>& weights = {1, 0, 0, 1},
                           const std::string& tokens = R"(["a", "b"])",
                           const std::string& truth = "") {
    return files({1, 1, 2, 2}, weights, tokens, truth);
  }

  TemporaryFolder folder_;
};

/// Writes the patterns, tokens and ground truth of a model's examples.
class OfAModel : public Stored {
 protected:
  OfAModel() : task_(make_task(kModelTask)), model_(hand_built(task_->shape(), 3, {1, 3, kSame})) {}

  StoredPatternFiles written(Index count) {
    const Example example = task_->make(streams::scored(), count, Split::validation);
    const Activations activations(model_, example.batch);
    const Tensor& pattern = activations.cache().attention[0].pattern;
    const std::vector<float> weights(pattern.values().begin(), pattern.values().end());
    Json tokens = Json::array();
    Header header = header_of(*task_);
    std::string truth = Json::object({{"header", header}}).dump() + "\n";
    for (Index b = 0; b < count; ++b) {
      tokens.push_back(words_of(*task_, example.batch, b));
      truth += line_of(header, example, b) + "\n";
    }
    return files({count, 1, 3, 10, 10}, weights, tokens.dump(), truth);
  }

  std::unique_ptr<Task> task_;
  Transformer model_;
};

TEST_F(OfAModel, GetsTheScoresOfTheModel) {
  const StoredPatterns patterns(written(100));
  const HeadsReport expected =
      score_heads(model_, *task_, {.examples = 100, .patterns_only = true});
  const HeadsReport report = score_heads(patterns, {.examples = 100});
  ASSERT_EQ(report.heads.size(), expected.heads.size());
  EXPECT_TRUE(patterns.is_causal());
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    for (std::size_t r = 0; r < report.relations.size(); ++r) {
      const RelationScore& mine = report.heads[h].relations[r];
      const RelationScore& theirs = expected.heads[h].relations[r];
      EXPECT_EQ(mine.mass, theirs.mass);
      EXPECT_EQ(mine.baseline, theirs.baseline);
      EXPECT_EQ(mine.p_holm, theirs.p_holm);
      EXPECT_EQ(report.relations[r].owned, expected.relations[r].owned);
    }
    for (const char* name : {"entropy", "focus", "previous", "induction"}) {
      EXPECT_EQ(report.heads[h].value(name), expected.heads[h].value(name)) << name;
    }
  }
  EXPECT_EQ(report.distances, expected.distances);
}

TEST_F(OfAModel, FewExamplesHaveScoresAndNoOwner) {
  const StoredPatterns patterns(written(3));
  const HeadsReport report = score_heads(patterns);
  EXPECT_EQ(report.examples, 3);
  EXPECT_GT(report.best_score(0).mass, 0.99) << "all three examples count";
  EXPECT_EQ(report.best_score(0).examples, 3);
  for (const RelationWinner& winner : report.relations) EXPECT_FALSE(winner.owned);
  EXPECT_NE(examples_text(patterns, report).find("need 20 examples"), std::string::npos);
}

TEST_F(OfAModel, TruthOfOtherTokensIsRefused) {
  StoredPatternFiles files = written(3);
  std::string tokens = read_file(files.tokens);
  tokens[tokens.find("\"a\"") + 1] = 'b';
  files.tokens = write("t.json", tokens);
  expect_error([&] { StoredPatterns patterns(files); }, {"f.jsonl:", "differ from the tokens"});
}

TEST_F(Stored, CausalityFollowsFromTheWeights) {
  EXPECT_TRUE(StoredPatterns(small()).is_causal());
  EXPECT_FALSE(StoredPatterns(small({0, 1, 0, 1})).is_causal());
}

TEST_F(Stored, CrossAttentionHasTokensOfQueriesAndKeys) {
  const StoredPatterns patterns(files({1, 2, 1, 2, 3}, std::vector<float>(12, 1 / 3.0F),
                                      R"({"queries": ["a", "b"], "keys": ["x", "y", "z"]})",
                                      R"({"truth": {"next": {"0": [1], "1": [2]}}})"));
  const HeadsReport report = score_heads(patterns);
  EXPECT_EQ(report.heads.size(), 2U);
  EXPECT_NEAR(report.best_score(0).mass, 1 / 3.0, 1e-6);
  EXPECT_NEAR(report.heads[0].value("entropy"), std::log(3.0), 1e-6);
}

TEST_F(Stored, PaddingIsNotScored) {
  std::vector<float> weights(18, 0);
  for (std::size_t row = 0; row < 6; ++row) weights[3 * row] = 1;
  weights[15] = 0;  // the last row of the second example is padding
  weights[17] = 1;
  const StoredPatterns patterns(
      files({2, 1, 1, 3, 3}, weights, R"([["a", "b", "c"], ["a", "b"]])"));
  EXPECT_EQ(score_heads(patterns).heads[0].value("first"), 1);
  weights[12] = 0;  // query 1 of the second example attends to padding
  weights[14] = 1;
  weights[15] = 1;
  weights[17] = 0;
  expect_error(
      [&] {
        StoredPatterns(files({2, 1, 1, 3, 3}, weights, R"([["a", "b", "c"], ["a", "b"]])"));
      },
      {"p.npy: example 1, head 0.0, query 1: a weight of 1 lies on keys after the last of 2"});
}

/// Causal weights of 5 queries and keys for 3 words, uniform over the visible keys: of words at the
/// end, if the padding in front of them sees the first key, and of words at the front.
std::vector<float> padded_weights(bool in_front, bool padding_sees_itself) {
  std::vector<float> weights(25);
  for (Index t = 0; t < 5; ++t) {
    const bool is_padding = in_front ? t < 2 : t >= 3;
    const Index first = in_front && !is_padding ? 2 : 0;
    const Index last = !in_front && is_padding && !padding_sees_itself ? 2 : t;
    for (Index s = first; s <= last; ++s) {
      const bool is_seen = !(in_front && is_padding) || padding_sees_itself;
      weights[t * 5 + s] = is_seen ? 1.0F / static_cast<float>(last - first + 1) : 0;
    }
  }
  return weights;
}

TEST_F(Stored, PaddingInFrontIsRefusedAndAtTheEndIsRead) {
  std::vector<float> whole(25);
  for (Index t = 0; t < 5; ++t) whole[t * 5] = 1;
  const std::string tokens = R"([["a", "b", "c", "d", "e"], ["a", "b", "c"]])";
  for (const bool sees_itself : {true, false}) {
    for (const bool normalised : {true, false}) {
      const auto read = [&](bool in_front) {
        std::vector<float> weights = whole;
        const std::vector<float> padded = padded_weights(in_front, sees_itself);
        weights.insert(weights.end(), padded.begin(), padded.end());
        StoredPatternFiles stored = files({2, 1, 1, 5, 5}, weights, tokens);
        stored.unnormalised = !normalised;
        return StoredPatterns(stored);
      };
      expect_error([&] { read(true); }, {"example 1 has 3 tokens", "padded in front?"});
      EXPECT_NO_THROW(read(false)) << sees_itself << normalised;
    }
  }
}

TEST_F(Stored, RowsThatDoNotSumToOneNeedConsent) {
  StoredPatternFiles given = small({0.5F, 0, 0.25F, 0.25F});
  expect_error([&] { StoredPatterns patterns(given); },
               {"p.npy: example 0, head 0.0, query 0: the weights sum to 0.5, not 1",
                "--unnormalised"});
  given.unnormalised = true;
  const HeadsReport report = score_heads(StoredPatterns(given));
  EXPECT_NEAR(report.heads[0].value("row_sum"), 0.5, 1e-6);
  const StoredPatterns rounded(small({0.996F, 0, 0.5F, 0.497F}));  // as sums in 16 bits are
}

TEST_F(Stored, WeightsThatAreNoneAreRefused) {
  for (const bool unnormalised : {false, true}) {
    for (const float wrong :
         {-0.5F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      StoredPatternFiles given = small({1, 0, wrong, 1});
      given.unnormalised = unnormalised;
      expect_error([&] { StoredPatterns patterns(given); },
                   {"p.npy: example 0, head 0.0, query 1, key 0: the weight is"});
    }
  }
}

TEST_F(Stored, FilesThatDoNotFitAreRefused) {
  const auto refuse = [&](const StoredPatternFiles& given, const std::vector<std::string>& parts) {
    expect_error([&] { StoredPatterns patterns(given); }, parts);
  };
  const std::vector<float> weights = {1, 0, 0, 1};
  refuse(files({2, 2}, weights, "[]"), {"p.npy: its shape is [2, 2]", "[layers, heads"});
  refuse(files({1, 0, 2, 2}, {}, "[]"), {"p.npy: its shape is [1, 0, 2, 2]"});
  refuse(small(weights, "[]"), {"t.json: it holds no token"});
  refuse(small(weights, "3"), {"t.json: it is neither a list nor an object"});
  refuse(small(weights, R"(["a"])"), {"t.json: the longest example has 1 token,", "2 queries"});
  refuse(small(weights, R"(["a", "b", "c"])"), {"example 0 has 3 tokens", "2 queries"});
  refuse(small(weights, R"([["a", "b"], ["a", "b"]])"), {"tokens of 2 examples", "have 1"});
  refuse(small(weights, R"(["a", ["b"]])"), {"mixes words and lists"});
  refuse(small(weights, R"(["a", null])"), {"t.json: example 0", "token"});
  refuse(small(weights, R"({"queries": ["a", "b"]})"), {"t.json", "keys"});
  refuse(small(weights, R"({"queries": ["a", "b"], "key": ["a", "b"]})"), {"'key'"});
  refuse(files({1, 1, 1, 4}, weights, R"(["a"])"), {"1 queries and 4 keys", "cross-attention"});
  const std::string words = R"(["a", "b"])";
  refuse(small(weights, words, R"({"truth": {"r": {"1": [5]}}})"), {"f.jsonl:1"});
  refuse(small(weights, words, R"({"truths": {}})"), {"f.jsonl:1", "truths"});
  refuse(small(weights, words, "{\"truth\": {}}\n{\"truth\": {}}"), {"f.jsonl: it has 2 examples"});
  refuse(small({0, 1, 0, 1}, words,
               "{\"header\": {\"architecture\": \"decoder\"}}\n{\"truth\": {}}"),
         {"f.jsonl:1", "decoder", "query 0 attends to key 1"});
  refuse(small(weights, words,
               "{\"header\": {\"architecture\": \"encoder_decoder\"}}\n{\"truth\": {}}"),
         {"f.jsonl:1", "cross-attention"});
}

TEST_F(Stored, InterventionsAreRefused) {
  const StoredPatterns patterns(small());
  const Example example = patterns.task().make({}, 1, Split::validation);
  const std::vector<HeadInterventions> interventions(1);
  expect_error(
      [&] { patterns.model().forward(example.batch, {}, {.interventions = interventions}); },
      {"cannot change stored patterns"});
}

}}  // namespace headlab
