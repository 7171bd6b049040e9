// Results on heads as a reader of the terminal sees it.
#include <cmath>
#include <map>

#include "headlab/app/report/result_text.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "headlab/lab/results/words.h"
#include "report/lines.h"
#include "support/golden_text.h"
#include "support/tensors.h"

namespace headlab { namespace heads_text_tests {

/// Two heads and `count` relations: head 3 does the first, no head the others.
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
      score.baseline = 0.25;
      score.lift = does ? 0.96 : std::nan("");
      score.p = score.p_holm = does ? 0.005 : 0.25;
      head.relations.push_back(score);
    }
  }
  return report;
}

std::string shown(const HeadsReport& report, const HeadsShown& what = {}) {
  return text_of(result_of(report, what));
}

TEST(HeadsText, EqualsTheGoldenFiles) {
  expect_golden("report/heads.txt", shown(report_of(2)));
  const HeadsShown everything = {.scores = true, .map = true, .all = true};
  expect_golden("report/heads_everything.txt", shown(report_of(12), everything));
}

TEST(HeadsText, NamesEveryRelationInLinesThatFit) {
  for (std::size_t count : {1u, 4u, 5u, 13u}) {
    const std::string said = shown(report_of(count));
    for (const std::string& line : lines_of(said)) EXPECT_LE(display_width(line), 80u) << line;
    for (std::size_t r = 0; r < count; ++r)
      EXPECT_NE(said.find(text("relation", r)), std::string::npos);
  }
}

TEST(HeadsText, IsShortWhereThereIsLittleToSay) {
  const std::string said = shown(report_of(0));
  EXPECT_NE(line_with(said, {"0.3", "0.000"}), "");
  EXPECT_EQ(said.find("verdict"), std::string::npos);
}

TEST(HeadsText, StatesTheScopeOfItsConclusions) {
  HeadsReport report = report_of(4);
  report.specialization = 0.25, report.relations[0].assigned_owns = true;
  report.relations[1].exchanges = 3;
  report.relations[2].candidates = 0;
  report.heads[0].relations[3].lift = 0.5;
  const std::string said = shown(report), notes = result_of(report).tables[1].note;
  EXPECT_NE(line_with(notes, {"few of 199", "relation1 (3)"}), "") << said;
  EXPECT_NE(line_with(said, {"relation2", "no attention of its kind"}), "") << said;
  EXPECT_NE(line_with(said, {"relation3", "could be chance"}), "") << said;
  EXPECT_NE(line_with(said, {"specialization 0.25", "1 of 4"}), "") << said;
}

/// Tones of the conclusions in a table of relations.
std::vector<Tone> tones_of(const HeadsReport& report) {
  const Table table = result_of(report, {}).tables[1];
  const std::size_t c = table.index_of("verdict");
  return mapped(table.rows, [&](const TableRow& row) { return row.tone(c); });
}

TEST(HeadsText, GivesConclusionsTones) {
  HeadsReport report = report_of(6);
  for (RelationScore& score : report.heads[0].relations) score.lift = 0;
  report.relations[1].candidates = 0;
  report.heads[0].relations[2].lift = 0.5;
  report.heads[0].relations[3].lift = -0.5;
  report.heads[0].relations[4].examples = 1;
  const std::vector<Tone> expected = {Tone::good, Tone::open, Tone::open,
                                      Tone::bad,  Tone::open, Tone::bad};
  EXPECT_EQ(tones_of(report), expected) << shown(report);
}

TEST(HeadsText, KeepsTheTonesOfManyRelationsThatAreSorted) {
  HeadsReport report = report_of(20);
  std::swap(report.relations[0].owned, report.relations[19].owned);
  const std::vector<Tone> tones = tones_of(report);
  EXPECT_EQ(tones[0], Tone::good);
  EXPECT_EQ(std::ranges::count(tones, Tone::good), 1);
}

TEST(HeadsText, ReportsDistributedRelations) {
  HeadsReport report = report_of(2);
  report.divisions = {{.relation = 1,
                       .heads = {0, 1},
                       .together = 0.99,
                       .spread = 0.4,
                       .kinds = {{"token of the key", 0.81, 0.005}}}};
  const std::string said = shown(report);
  EXPECT_NE(line_with(said, {"relation1", "several heads"}), "") << said;
  EXPECT_EQ(said.find("no head"), std::string::npos);
  EXPECT_NE(said.find(
                "0.1 and 0.3 implement `relation1`: by token of the key (.81 of it), together"),
            std::string::npos)
      << said;
}

TEST(HeadsText, CountsNoSharedRelationAsOneOfItsOwn) {
  HeadsReport report = report_of(4);
  report.specialization = 0.5;
  report.relations[0].assigned_owns = report.relations[1].assigned_owns = true;
  report.divisions = {{.relation = 1,
                       .heads = {0, 1},
                       .spread = 0.4,
                       .kinds = {{"position", 0.81, 0.005}},
                       .classes = {{"4", 30, {0.9, 0.1}, {2, 0.25}}, {"5", 10, {0, 1}, {0, 3}}}}};
  const std::string said = result_of(report).tables[1].note;
  EXPECT_NE(said.find("2 of 4 relations have an owner, 1 of them"), said.npos) << said;
  EXPECT_EQ(said.find("of their own"), std::string::npos) << said;
  EXPECT_NE(line_with(said, {"without 0.3: loss +3 nats where it attends most, +0.25 nats"}), "")
      << said;
}

TEST(HeadsText, NamesOneCostOfAHeadThatAttendsMostInNoClass) {
  HeadsReport report = report_of(2);
  report.divisions = {
      {.relation = 1,
       .heads = {0, 1},
       .spread = 0.4,
       .kinds = {{"position", 0.81, 0.005}},
       .classes = {{"4", 30, {0.9, 0.1}, {2, 0.25}}, {"5", 10, {1, 0}, {4, 0.25}}}}};
  const std::string said = result_of(report).tables[1].note;
  EXPECT_NE(line_with(said, {"without 0.1: loss +2.5 nats"}), "") << said;
  EXPECT_EQ(line_with(said, {"without 0.1: loss +2.5 nats where"}), "") << said;
  EXPECT_EQ(line_with(said, {"without 0.3: loss +0.25 nats"}), "without 0.3: loss +0.25 nats");
}

TEST(HeadsText, SaysWhereTheBestHeadIsWorseThanChance) {
  HeadsReport report = report_of(2);
  report.heads[0].relations[1].lift = -4.6;
  EXPECT_NE(line_with(shown(report), {"relation1", "worse than chance"}), "");
}

TEST(HeadsText, ReportsHeadsThatImplementARelationInPart) {
  HeadsReport report = report_of(2);
  EXPECT_NE(line_with(shown(report), {"relation1", "no head"}), "");
  report.heads[0].relations[1].p_holm = 0.005, report.heads[0].relations[1].lift = 0.1;
  EXPECT_NE(line_with(shown(report), {"relation1", "one head, in part"}), "");
  report.heads[1].relations[1].p_holm = 0.005, report.heads[1].relations[1].lift = 0.05;
  EXPECT_NE(line_with(shown(report), {"relation1", "one head, in part"}), "") << "too little";
  report.heads[1].relations[1].lift = 0.1;
  EXPECT_NE(line_with(shown(report), {"relation1", "2 heads, each in part"}), "");
}

TEST(HeadsText, DrawsNoConclusionFromTooFewExamples) {
  HeadsReport report = report_of(3);
  for (HeadScores& head : report.heads) head.relations[2].examples = 1;
  const std::string said = shown(report);
  EXPECT_NE(line_with(said, {"relation2", "too few (1)"}), "") << said;
  EXPECT_NE(line_with(said, {"fewer than 10 examples", "relation2 (1)"}), "") << said;
  EXPECT_NE(line_with(said, {"0 of 2 relations that can be judged"}), "") << said;
}

TEST(HeadsText, FitsAScreenWhereThereAreManyRelations) {
  HeadsReport report = report_of(70);
  for (RelationWinner& winner : report.relations) winner.nearest.top1 = 0.5;
  for (std::size_t r = 20; r < 60; ++r)
    for (HeadScores& head : report.heads) head.relations[r].examples = 2;
  EXPECT_LE(lines_of(shown(report)).size(), 40u);
  EXPECT_NE(line_with(shown(report), {"relation0", "owner"}), "");
  EXPECT_NE(line_with(shown(report), {"fewer than 10 examples", "40 relations"}), "");
  EXPECT_GT(lines_of(shown(report, {.all = true})).size(), 100u);
}

TEST(HeadsText, HasBaselinesWhereATaskNamesCandidates) {
  HeadsReport report = report_of(2);
  EXPECT_EQ(line_with(shown(report), {"nearest"}), "");
  report.relations[0].offset = {.top1 = 0.41, .wrong = 10, .head_top1_where_wrong = 0.92};
  report.relations[0].nearest = {.top1 = 0.23, .wrong = 20, .head_top1_where_wrong = 0.97};
  const std::string said = shown(report);
  EXPECT_NE(line_with(said, {"relation0", "0.410"}), "") << said;
  EXPECT_NE(line_with(said, {"relation0", "0.230", "0.970"}), "") << said;
}

/// Heads that are as far from each other as points of a circle.
HeadsReport circle_of(std::size_t count) {
  HeadsReport report;
  for (std::size_t h = 0; h < count; ++h) {
    HeadScores& head = report.heads.emplace_back();
    head.attention_layer = static_cast<Index>(h / 8), head.head = static_cast<std::int32_t>(h % 8);
    const std::map<std::string, double> known = {
        {"entropy", 1.25}, {"focus", 0.327}, {"confidence", 0.5}, {"rank", 3.5}, {"distance", 0}};
    for (const ScoreEntry& row : score_table())
      head.values.push_back(known.contains(row.name) ? known.at(row.name) : 0.25);
    head.values[h] = std::nan("");
    head.offsets = {{-1, 0.98}, {2, 0.02}};
    head.labels.assign(h == 1 ? 20 : 1, "positional -1");
  }
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      const double apart = static_cast<double>(a) - static_cast<double>(b);
      report.distances.push_back(2 * std::abs(std::sin(M_PI * apart / static_cast<double>(count))));
    }
  }
  return report;
}

TEST(HeadsText, ShowsTheScoresThatNeedNoGroundTruthWhereTheyAreAskedFor) {
  const std::string said = shown(circle_of(3), {.scores = true});
  for (const ScoreEntry& row : score_table()) {
    if (row.from.weight == nullptr && row.from.value == nullptr) continue;
    EXPECT_NE(said.find(row.name), said.npos) << row.name;
    EXPECT_EQ(shown(circle_of(3)).find(row.name) != said.npos, row.from.always) << row.name;
  }
  for (const char* part : {"0.2", "0.25", "1.250", "0.327", "0.500", "3.50", "-1    0.98"})
    EXPECT_NE(said.find(part), said.npos) << part << "\n" << said;
  for (const std::string& line : lines_of(said)) EXPECT_LE(display_width(line), 80u) << line;
}

TEST(HeadsText, NamesTheNearestNeighbourOfEachHead) {
  const std::string said = shown(circle_of(24), {.map = true});
  EXPECT_NE(line_with(said, {"0.3", "0.261"}), "") << said;  // 2 sin(pi / 24)
  for (const std::string& line : lines_of(said)) EXPECT_LE(display_width(line), 80u) << line;
}

TEST(HeadsText, ReportsTheEmergenceStepOfEachRole) {
  HeadsHistory history;
  history.steps = {50, 100};
  history.relations = {{"same", {0, 3}, {0.1, 0.9}, 100}, {"other", {0, 1}, {0.2, 0.1}, -1}};
  const Result found = result_of(history);
  const std::string said = text_of(found);
  EXPECT_NE(said.find("same       0.3      100  0.900  ▂▇"), std::string::npos) << said;
  EXPECT_NE(said.find("other      0.1        -  0.100"), std::string::npos) << said;
  EXPECT_EQ(csv_of(found.table("lifts")), "step,lift_same,lift_other\n50,0.1,0.2\n100,0.9,0.1\n");
}

}  // namespace heads_text_tests
}  // namespace headlab
