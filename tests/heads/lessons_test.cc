// The worked examples of the lessons against every figure that the articles print and that is
// right, to its last digit: the sentence of five tokens, the one of two, heads of random weights;
// and that the attention which models run computes the same.
#include "headlab/lab/heads/lessons/lessons.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/ops/attention.h"
#include "support/columns_text.h"
#include "support/errors.h"
#include "support/golden_text.h"

namespace headlab { namespace lessons_tests {

constexpr double kFourDecimals = 0.5e-4 + 1e-12;

void expect_printed(const Matrix& matrix, const std::vector<double>& printed,
                    double half = kFourDecimals) {
  ASSERT_EQ(matrix.values().size(), printed.size());
  for (std::size_t i = 0; i < printed.size(); ++i)
    EXPECT_NEAR(matrix.values()[i], printed[i], half) << "number " << i;
}

std::vector<HeadSteps> five_tokens(Index heads = 2) {
  const WorkedExample& worked = worked_example("five-tokens");
  return attend_in_heads(worked.q, worked.k, worked.v, heads);
}

TEST(Lessons, FiveTokensHaveTheScoresOfTheArticle) {
  expect_printed(five_tokens()[0].scores,
                 {0, 1, 1, 0, 1, 2, 0, 2, 0, 0, 1, 1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1});
  expect_printed(five_tokens()[1].scores,
                 {0, 1, 0, 1, .5, 1, 0, 0, 1, .5, 0, 1, 0, 1, .5, 1, 1, 0, 2, 1, 1, 0, 0, 1, .5});
  expect_printed(five_tokens()[0].scaled,
                 {0, .7071, .7071, 0, .7071, 1.4142, 0, 1.4142, 0,     0,     .7071, .7071, 1.4142,
                  0, .7071, 0,     0, 0,     0,      0, 0,      .7071, .7071, 0,     .7071});
  expect_printed(five_tokens()[1].scaled,
                 {0,      .7071, 0,     .7071, .3536, .7071, 0,     0,     .7071,
                  .3536,  0,     .7071, 0,     .7071, .3536, .7071, .7071, 0,
                  1.4142, .7071, .7071, 0,     0,     .7071, .3536});
}

TEST(Lessons, FiveTokensHaveTheWeightsOfTheArticle) {
  expect_printed(five_tokens()[0].weights, {.1237, .2509, .2509, .1237, .2509,  //
                                            .3664, .0891, .3664, .0891, .0891,  //
                                            .1811, .1811, .3673, .0893, .1811,  //
                                            .2000, .2000, .2000, .2000, .2000,  //
                                            .1237, .2509, .2509, .1237, .2509});
  expect_printed(five_tokens()[1].weights, {.1337, .2711, .1337, .2711, .1904,  //
                                            .2711, .1337, .1337, .2711, .1904,  //
                                            .1337, .2711, .1337, .2711, .1904,  //
                                            .1811, .1811, .0893, .3673, .1811,  //
                                            .2711, .1337, .1337, .2711, .1904});
  expect_printed(average_weights(five_tokens()), {.1287, .2610, .1923, .1974, .2206,  //
                                                  .3188, .1114, .2500, .1801, .1397,  //
                                                  .1574, .2261, .2505, .1802, .1858,  //
                                                  .1906, .1906, .1447, .2837, .1906,  //
                                                  .1974, .1923, .1923, .1974, .2206});
}

TEST(Lessons, FiveTokensHaveTheOutputsOfTheArticle) {
  expect_printed(concatenated(five_tokens()), {.2491, .3763, .2289, .3663,  //
                                               .4109, .1336, .2289, .3663,  //
                                               .2717, .2717, .2289, .3663,  //
                                               .3000, .3000, .1799, .4579,  //
                                               .2491, .3763, .2289, .3663});
}

TEST(Lessons, FiveTokensInOneHeadHaveTheWeightsOfTheChapterBefore) {
  const HeadSteps head = five_tokens(1)[0];
  EXPECT_NEAR(head.weights(1, 0), .4026, kFourDecimals);
  EXPECT_NEAR(head.weights(1, 2), .2442, kFourDecimals);
  EXPECT_NEAR(head.weights(1, 1), .0898, kFourDecimals);
  const std::vector<double> the = {.1095, .2976, .1805, .1805, .2318};
  for (Index s = 0; s < 5; ++s) EXPECT_NEAR(head.weights(0, s), the[s], kFourDecimals);
}

TEST(Lessons, FourHeadsOfWidthOneLeaveNineOfTwentyRowsUniform) {
  Index uniform = 0, zero = 0;
  for (const HeadSteps& head : five_tokens(4)) {
    for (Index t = 0; t < 5; ++t) {
      bool equal = true;
      for (Index s = 0; s < 5; ++s) equal = equal && head.weights(t, s) == .2;
      uniform += equal;
      zero += head.q(t, 0) == 0;
    }
  }
  EXPECT_EQ(uniform, 9);
  EXPECT_EQ(zero, 9);
  const WorkedExample& worked = worked_example("five-tokens");
  const Table mixed =
      worked_example_tables(shown_heads(worked.tokens, five_tokens(4)), worked.W_O).back();
  EXPECT_NE(mixed.note.find("9 of 20 rows are uniform"), std::string::npos) << mixed.note;
  EXPECT_THROW(five_tokens(3), Error);
}

TEST(Lessons, AblatingAHeadChangesTheOutputByItsNorm) {
  const std::vector<HeadSteps> heads = five_tokens();
  const WorkedExample& worked = worked_example("five-tokens");
  for (const Matrix& W_O : {identity(4), worked.W_O}) {
    EXPECT_NEAR(change_when_ablated(heads, 0, W_O), .9600, kFourDecimals);
    EXPECT_NEAR(change_when_ablated(heads, 1, W_O), .9941, kFourDecimals);
  }
}

TEST(Lessons, OwnNumbersMayLackTheOutputMatrix) {
  Json json = Json::parse(R"({"tokens": ["a"], "q": [[1]], "k": [[1]], "v": [[1]]})");
  EXPECT_EQ(worked_example_of(json, "here").W_O(0, 0), 1);
  json["W_O"] = Json::parse("[[3]]");
  EXPECT_EQ(worked_example_of(json, "here").W_O(0, 0), 3);
}

/// A worked example with these queries and keys is refused in these words.
void expect_refused(const std::string& q, const std::string& k, const std::string& words) {
  const Json json = Json::parse(R"({"tokens": ["a", "b"], "q": )" + q + R"(, "k": )" + k +
                                R"(, "v": [[1], [2]]})");
  expect_error([&] { worked_example_of(json, "here"); }, {words});
}

TEST(Lessons, OwnNumbersHaveRowsOfOneWidth) {
  expect_refused("[[1]]", "[[1], [1]]", "q has 1 rows where 2 are expected");
  expect_refused("[[1], [1, 2]]", "[[1], [1]]", "q has a row of 2 numbers after one of 1");
  expect_refused("[[1], [1]]", "[[], []]", "k is 0 wide");
}

TEST(Lessons, AMeanOfNoPatternIsRefused) {
  expect_error([] { average_weights({}); }, {"cannot average patterns: there is none"});
}

TEST(Lessons, HeadsThatReadTheSameColumnsHaveOnePattern) {
  const WorkedExample& worked = worked_example("five-tokens");
  const Matrix q = columns_of(worked.q, 0, 2), k = columns_of(worked.k, 0, 2);
  const HeadSteps one = attend(q, k, columns_of(worked.v, 0, 2)),
                  two = attend(q, k, columns_of(worked.v, 2, 4));
  EXPECT_EQ(one.weights.values(), two.weights.values());
  EXPECT_NE(one.output.values(), two.output.values());
}

TEST(Lessons, CatSleepsHasTheRightFiguresOfTheArticle) {
  const WorkedExample& worked = worked_example("cat-sleeps");
  const std::vector<HeadSteps> heads = attend_in_heads(worked.q, worked.k, worked.v, 2);
  expect_printed(heads[0].scores, {5, 0, 0, 0});
  EXPECT_NEAR(heads[0].scaled(0, 0), 3.5, .05);
  expect_printed(heads[0].weights, {.97, .03, .5, .5}, .5e-2);
  expect_printed(heads[0].output, {.97, 1.94, .5, 1}, .5e-2);
  expect_printed(heads[1].output, {.5, 1, .97, 1.94}, .5e-2);  // the first two: see corrections
}

/// A matrix [T, d] as a batch of one.
Tensor one_sequence(const Matrix& matrix) {
  Tensor x = Tensor::empty({1, matrix.rows(), matrix.columns()});
  std::ranges::transform(matrix.values(), x.values().begin(),
                         [](double value) { return static_cast<Scalar>(value); });
  return x;
}

TEST(Lessons, EqualTheEngine) {
  for (const WorkedExample& worked : worked_examples()) {
    for (const Index H : {1, 2, 4}) {
      Tensor pattern;
      const Tensor z = attention(one_sequence(worked.q), one_sequence(worked.k),
                                 one_sequence(worked.v), {.heads = H}, &pattern);
      const std::vector<HeadSteps> heads = attend_in_heads(worked.q, worked.k, worked.v, H);
      const Matrix own = concatenated(heads);
      for (std::size_t i = 0; i < own.values().size(); ++i)
        EXPECT_NEAR(own.values()[i], static_cast<double>(z.data()[i]), 1e-6) << worked.name;
      const Matrix& last = heads.back().weights;
      const Scalar* of_last = pattern.data() + (H - 1) * last.rows() * last.columns();
      for (std::size_t i = 0; i < last.values().size(); ++i)
        EXPECT_NEAR(last.values()[i], static_cast<double>(of_last[i]), 1e-6) << worked.name;
    }
  }
}

TEST(Lessons, KeysThatAreNotSeenHaveNoWeight) {
  const WorkedExample& worked = worked_example("cat-sleeps");
  const std::vector<char> causal = {1, 0, 1, 1}, none = {0, 0, 1, 1};
  expect_printed(attend(worked.q, worked.k, worked.v, causal).weights, {1, 0, .0759, .9241});
  EXPECT_EQ(attend(worked.q, worked.k, worked.v, none).weights(0, 0), 0);
  EXPECT_THROW(attend(worked.q, worked.k, worked.v, std::vector<char>(3)), Error);
}

TEST(Lessons, GiveTheLengthsOfValuesThatAreTooWideToBeWritten) {
  const auto two = [](Index, Index) { return 2.0; };
  const Matrix q(1, 1, two);
  const Matrix k(1, 1, two);
  const Matrix v(1, 9, two);
  const ShownHeads shown = shown_heads({"a"}, {attend(q, k, v)});
  const std::vector<Table> tables = query_tables(shown, 0);
  const Json::Array& row = tables[0].rows[0];
  EXPECT_DOUBLE_EQ(row[6].number(), 6);  // sqrt(9 * 2^2)
  EXPECT_DOUBLE_EQ(row[7].number(), 6) << "the one key has all of the weight";
  EXPECT_THROW(query_tables(shown, 1), Error) << "there is one query";
  EXPECT_THROW(query_tables(shown, -1), Error);
}

TEST(Lessons, AreTablesWithTheColumnsOfTheGoldenFile) {
  const WorkedExample& worked = worked_example("five-tokens");
  const ShownHeads shown = shown_heads(worked.tokens, five_tokens());
  std::string all;
  for (const auto& tables : {worked_example_tables(shown, worked.W_O), query_tables(shown, 0)})
    for (const Table& table : tables) {
      all += columns_text(table);
    }
  for (const PublishedModel& m : published_models()) {
    all += text(m.name, ": d_model ", m.d_model, ", heads ", m.heads, ", kv_heads ", m.kv_heads,
                ", d_head ", m.d_head, ", layers ", m.layers, ", ", m.source, "\n");
  }
  expect_golden("heads/lesson_tables.txt", all);
}

TEST(Lessons, PublishedModelsHaveTheWeightsAndTheCacheOfTheirSources) {
  const Table table = published_models_table();
  ASSERT_EQ(table.rows.size(), published_models().size());
  const auto row = [&](std::string_view name) {
    return *std::ranges::find(table.rows, name,
                              [](const auto& cells) { return cells[0].string(); });
  };
  EXPECT_EQ(row("Transformer base")[6].integer(), 4 * 512 * 512);
  EXPECT_EQ(row("Mistral 7B")[6].integer(), 2 * 4096 * (32 + 8) * 128);
  EXPECT_EQ(row("GPT-3 175B")[7].integer(), 2 * 96 * 96 * 256);
  EXPECT_TRUE(row("BERT-base")[7].is_null()) << "it generates nothing";
  for (const PublishedModel& model : published_models()) {
    EXPECT_EQ(model.heads % model.kv_heads, 0) << model.name;
    EXPECT_NE(std::string(model.source), "") << model.name;
  }
}

TEST(Lessons, NameTheWorldsThereAre) { EXPECT_THROW(worked_example("six-tokens"), Error); }

TEST(Lessons, AreOneJsonForPages) {
  const Json json = lessons_json();
  expect_golden("heads/lessons.json", json.dump(2) + "\n");
  EXPECT_EQ(json.at("worlds").items().size(), 2u);
  EXPECT_EQ(json.at("worlds").items()[0].at("q").items().size(), 5u);
  const Json steps = to_json(five_tokens()[0]);
  for (const char* part : {"q", "scores", "scaled", "weights", "output"})
    EXPECT_EQ(steps.at(part).items().size(), 5u) << part;
}

}  // namespace lessons_tests
}  // namespace headlab
