// What heads do, as a reader of the terminal sees it.
#include "headlab/report/heads_text.h"

#include "headlab/report/table.h"
#include "report/lines.h"
#include "support/tensors.h"

namespace headlab { namespace heads_text_tests {

/// Two heads and `count` relations: head 3 does the first, nobody the others.
HeadsReport report_of(std::size_t count) {
  HeadsReport report;
  report.attention = {"blocks.0.attn"};
  report.permutations = 199;
  report.heads = {HeadScores{HeadId{0, 1}}, HeadScores{HeadId{0, 3}}};
  for (const ScoreEntry& row : score_table()) {
    const bool is_entropy = row.name == std::string("entropy");
    report.heads[0].values.push_back(is_entropy ? 1.25 : 0.5);
    report.heads[1].values.push_back(is_entropy ? 0 : 1);
  }
  for (std::size_t r = 0; r < count; ++r) {
    report.relations.push_back({.relation = {text("relation", r), "", false},
                                .best = r == 0 ? 1u : 0u,
                                .owned = r == 0,
                                .p = r == 0 ? 0.005 : 0.25,
                                .candidates = 2,
                                .exchanges = 199});
    for (HeadScores& head : report.heads) {
      const bool does = r == 0 && head.head == 3;
      RelationScore score{.queries = 10,
                          .examples = 10,
                          .mass = does ? 0.97 : 0.125,
                          .top1 = does ? 1.0 : 0.0};
      score.null = 0.25;
      score.lift = does ? 0.96 : std::nan("");
      head.relations.push_back(score);
    }
  }
  return report;
}

TEST(HeadsText, HasALineForEachHeadWithItsNumbers) {
  const std::string shown = heads_text(report_of(2));
  EXPECT_NE(line_with(shown, {"0.1", "1.250", "0.500", "0.12"}), "") << shown;
  EXPECT_NE(line_with(shown, {"0.3", "0.000", "1.000", "0.97", "0.96*"}), "") << shown;
}

TEST(HeadsText, SaysWhoDoesWhat) {
  const std::string shown = heads_text(report_of(2));
  EXPECT_NE(line_with(shown, {"relation0", "0.3", "0.970", "1.000", "0.960", "0.005", "does it"}),
            "");
  EXPECT_NE(line_with(shown, {"relation1", "0.1", "0.125", "-", "0.250", "nobody does it"}), "")
      << shown;
}

TEST(HeadsText, NamesEveryRelationInLinesThatFit) {
  for (std::size_t count : {1u, 4u, 5u, 13u}) {
    const std::string shown = heads_text(report_of(count));
    for (const std::string& line : lines_of(shown)) EXPECT_LE(display_width(line), 100u) << line;
    for (std::size_t r = 0; r < count; ++r)
      EXPECT_NE(shown.find(text("relation", r)), std::string::npos);
  }
}

TEST(HeadsText, IsShortWhereThereIsLittleToSay) {
  EXPECT_EQ(heads_text({}), "the model has no head\n");
  const std::string shown = heads_text(report_of(0));
  EXPECT_NE(line_with(shown, {"0.3", "0.000"}), "");
  EXPECT_EQ(shown.find("verdict"), std::string::npos);
}

TEST(HeadsText, SaysHowFarItsVerdictsCarry) {
  HeadsReport report = report_of(4);
  report.specialization = 0.25, report.relations[0].assigned_owns = true;
  report.relations[1].exchanges = 3;
  report.relations[2].candidates = 0;
  report.heads[0].relations[3].lift = 0.5;
  report.relations[0].mass_any = 1;     // .03 more than its best head has
  report.relations[2].mass_any = 0.45;  // .2 / .75 of what the null leaves: too little
  report.relations[3].mass_any = report.relations[1].mass_any = 0.5;
  const std::string shown = heads_text(report);
  EXPECT_EQ(line_with(shown, {"heads share", "relation0"}), "") << shown;
  EXPECT_EQ(line_with(shown, {"heads share", "relation2"}), "") << shown;
  EXPECT_NE(line_with(shown, {"heads share", "relation3", "0.12", "0.50"}), "") << shown;
  EXPECT_NE(line_with(shown, {"few of 199", "relation1 (3)"}), "") << shown;
  EXPECT_NE(line_with(shown, {"relation2", "no head of its kind"}), "") << shown;
  EXPECT_NE(line_with(shown, {"relation3", "could be chance"}), "") << shown;
  EXPECT_NE(line_with(shown, {"specialization 0.25", "1 of 4"}), "") << shown;
}

TEST(HeadsText, SaysThatHeadsShareWhatNoneDoesAlone) {
  HeadsReport report = report_of(2);
  report.relations[1].mass_any = 0.6;
  const std::string shown = heads_text(report);
  EXPECT_NE(line_with(shown, {"relation1", "no head alone: heads share it"}), "") << shown;
  EXPECT_EQ(shown.find("nobody does it"), std::string::npos);
}

TEST(HeadsText, SaysThatHeadsDoInPartWhatNoneOwns) {
  HeadsReport report = report_of(2);
  EXPECT_NE(line_with(heads_text(report), {"relation1", "nobody does it"}), "");
  report.heads[0].relations[1].p = 0.005, report.heads[0].relations[1].lift = 0.1;
  EXPECT_NE(line_with(heads_text(report), {"relation1", "one head, in part"}), "");
  report.heads[1].relations[1].p = 0.005, report.heads[1].relations[1].lift = 0.05;
  EXPECT_NE(line_with(heads_text(report), {"relation1", "2 heads, each in part"}), "");
}

TEST(HeadsText, PassesNoVerdictOnTooFewExamples) {
  HeadsReport report = report_of(3);
  for (HeadScores& head : report.heads) head.relations[2].examples = 1;
  const std::string shown = heads_text(report);
  EXPECT_NE(line_with(shown, {"relation2", "too few (1)"}), "") << shown;
  EXPECT_NE(line_with(shown, {"fewer than 10 examples", "relation2 (1)"}), "") << shown;
  EXPECT_NE(line_with(shown, {"0 of 2 relations that can be judged"}), "") << shown;
  EXPECT_EQ(line_with(shown, {"rests on"}), "rests on queries: relation0 10, relation1 10")
      << shown;
}

TEST(HeadsText, FitsAScreenWhereThereAreManyRelations) {
  HeadsReport report = report_of(70);
  for (RelationWinner& winner : report.relations) winner.nearest.top1 = 0.5;
  for (std::size_t r = 20; r < 60; ++r)
    for (HeadScores& head : report.heads) head.relations[r].examples = 2;
  EXPECT_LE(lines_of(heads_text(report)).size(), 40u);
  EXPECT_NE(line_with(heads_text(report), {"relation0", "does it"}), "");
  EXPECT_NE(line_with(heads_text(report), {"fewer than 10 examples", "40 relations"}), "");
  EXPECT_GT(lines_of(heads_text(report, true)).size(), 100u);
}

TEST(HeadsText, HasBaselinesWhereATaskNamesCandidates) {
  HeadsReport report = report_of(2);
  EXPECT_EQ(line_with(heads_text(report), {"nearest"}), "");
  report.relations[0].offset = {.top1 = 0.41, .wrong = 10, .head_top1_where_wrong = 0.92};
  report.relations[0].nearest = {.top1 = 0.23, .wrong = 20, .head_top1_where_wrong = 0.97};
  const std::string shown = heads_text(report);
  EXPECT_NE(line_with(shown, {"relation0", "0.3", "0.410", "0.920", "0.230", "0.970"}), "")
      << shown;
}

}  // namespace heads_text_tests
}  // namespace headlab
