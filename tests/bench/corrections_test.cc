// The table of corrections is right: each figure in it is computed here, by the
// functions that lessons and the terminal use, and must be in the text to its last digit.
#include <gtest/gtest.h>

#include <set>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/bench/cost.h"
#include "headlab/lab/heads/lessons/lessons.h"
#include "headlab/lab/results/words.h"

namespace headlab { namespace corrections_tests {

/// The facts of a topic, one after the other.
std::string facts_of(const std::string& topic) {
  std::string all;
  for (const Json::Array& row : corrections_table().rows)
    if (topic == row[0].string()) all += row[2].string() + "\n";
  return all;
}

void expect_said(const std::string& topic, const std::string& figure) {
  EXPECT_NE(facts_of(topic).find(figure), std::string::npos) << topic << ": " << figure;
}

/// .9241 for 0.9241.
std::string share(double value) { return fixed(value, 4).substr(1); }

TEST(Corrections, HaveAClaimAFactAndASource) {
  const std::set<std::string> topics = {"five-tokens", "cat-sleeps", "patterns", "cost"};
  const Table corrections = corrections_table();
  EXPECT_GT(corrections.rows.size(), 10u);
  for (const Json::Array& row : corrections.rows) {
    EXPECT_TRUE(topics.contains(row[0].string())) << row[0].string();
    for (const Json& part : row) EXPECT_GT(part.string().size(), 3u) << row[1].string();
  }
}

TEST(Corrections, TwoTokenExamplesAreComputed) {
  const WorkedExample& worked = worked_example("cat-sleeps");
  const auto two = attend_in_heads(worked.q, worked.k, worked.v, 2);
  const HeadSteps one = attend(worked.q, worked.k, worked.v);
  EXPECT_EQ(two[1].weights(0, 0), .5);
  expect_said("cat-sleeps", share(two[1].output(0, 0)) + " " + fixed(two[1].output(0, 1), 4));
  expect_said("cat-sleeps", share(one.weights(0, 0)));
  EXPECT_EQ(fixed(one.weights(0, 0), 4), fixed(one.weights(1, 1), 4));
  EXPECT_EQ(two[0].weights(1, 0), .5) << "the head whose columns sleeps leaves at 0";
}

TEST(Corrections, CostExamplesAreComputed) {
  const auto last = [](const Table& table) { return table.rows.back()[3].integer(); };
  for (const Index heads : {1, 8}) {
    const auto attention_layers = attention_layers_of({.heads = heads, .biases = false});
    EXPECT_EQ(last(parameter_cost(attention_layers)), 4 * 512 * 512);
  }
  const auto seven = attention_layers_of({.heads = 7});
  expect_said("cost", text("floor(512 / 7) = ", seven[0].sizes.d_head));
  expect_said("cost", "[511, 512]");
  const Table cache = memory_cost(
      attention_layers_of({.d_model = 12288, .heads = 96, .length = 2048, .layers = 96}), 1);
  const Json::Array& kept = cache.rows.back();
  expect_said("cost",
              grouped(kept[2].integer()) + " numbers: " + fixed(kept[4].number() / 1e3, 2) + " GB");
  const Table memory =
      memory_cost(attention_layers_of({.d_model = 12288, .heads = 96, .length = 8192}), 1);
  expect_said("cost", grouped(memory.rows[2][2].integer()));
  expect_said("cost", fixed(memory.rows[2][4].number() / 1e3, 1) + " GB in fp16, " +
                          fixed(memory.rows[2][3].number() / 1e3, 1) + " GB in fp32");
}

}  // namespace corrections_tests
}  // namespace headlab
