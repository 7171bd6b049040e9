// By what heads divide a relation, where it is known: heads built by hand of which each does a
// part, and heads that do the same.
#include "headlab/heads/scores.h"
#include "headlab/tasks/table.h"
#include "support/hand_built.h"
#include "support/models.h"

namespace headlab { namespace {

class Divided : public testing::Test {
 protected:
  static constexpr Index kLength = 10, kClasses = 3;

  /// Two heads that do `relation`; head h does not look where Q's rows [from, to) are zero.
  Transformer model(Index relation) const {
    return hand_built(task_->shape(), kClasses, {relation, relation});
  }
  static void blind(Transformer& model, Index head, Index row) {
    const Tensor& W = model.attention(0).Q.W;
    const Index width = W.size(1) / 2;
    std::fill_n(W.data() + row * W.size(1) + head * width, width, Scalar{0});
  }
  HeadsReport report_of(const Transformer& model) const {
    return score_heads(model, *task_, {.examples = 400, .without_gold = false});
  }
  std::unique_ptr<Task> task_ = make_task("relations:length=10,vocab=6,classes=3,relations=1+same");
};

TEST_F(Divided, ByPosition) {
  Transformer halves = model(1);
  for (Index t = 0; t < kLength; ++t) blind(halves, t % 2, t);
  const HeadsReport report = report_of(halves);
  const Division* division = report.division_of(0);
  ASSERT_NE(division, nullptr);
  EXPECT_EQ(division->heads, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(division->by(), "position");
  EXPECT_GT(division->kinds[division->best].explained, 0.9);
  EXPECT_EQ(division->together, 1);
  ASSERT_EQ(division->classes.size(), 9u);  // the first has nothing before it
  for (const Division::Class& one : division->classes) {
    const auto does = static_cast<std::size_t>(std::stoi(one.name) % 2 == 0);
    EXPECT_EQ(one.mass[does], 1) << one.name;
    EXPECT_LT(one.mass[1 - does], 0.6) << one.name;
  }
  const std::string sentence = report.sentence(*division);
  EXPECT_EQ(sentence, "0.0 and 0.1 share `back1`: by position (1 of it), together 1");
  const Json json = to_json(report).at("divisions").items()[0];
  EXPECT_EQ(json.at("by").string(), "position");
  EXPECT_EQ(json.at("classes").items()[0].at("mass").items().size(), 2u);
}

TEST_F(Divided, ByTokens) {
  Transformer halves = model(kSame);
  blind(halves, 0, kLength), blind(halves, 1, kLength + 1);  // both do the third class
  const HeadsReport report = report_of(halves);
  const Division* division = report.division_of(1);
  ASSERT_NE(division, nullptr);
  EXPECT_TRUE(division->by().starts_with("token of the")) << report.sentence(*division);
  EXPECT_EQ(division->together, 1);
  EXPECT_EQ(division->classes.size(), 6u);
}

TEST_F(Divided, ByWhatIsBestOnTheOtherHalf) {
  Transformer halves = model(kSame);
  blind(halves, 0, kLength), blind(halves, 1, kLength + 1);
  Index not_best = 0;
  for (Index examples = 60; examples < 400; examples += 20) {
    const HeadsReport report =
        score_heads(halves, *task_, {.examples = examples, .without_gold = false});
    const Division* division = report.division_of(1);
    ASSERT_NE(division, nullptr);
    const double explained = division->kinds[division->best].explained;
    EXPECT_GT(explained, 0.5);
    not_best +=
        explained < std::ranges::max(division->kinds, {}, &Division::Kind::explained).explained;
  }
  EXPECT_GT(not_best, 0) << "it is chosen where it is judged";
}

TEST_F(Divided, ByNothingWhereOneHeadDoesIt) {
  for (const Index relation : {Index{1}, kSame}) {
    const HeadsReport report = report_of(model(relation));
    EXPECT_TRUE(report.divisions.empty());
  }
}

}  // namespace
}  // namespace headlab
