// A sweep as text: numbers with their intervals, sentences that say what was measured and what is
// missing.
#include "headlab/report/runs_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "headlab/report/table.h"

namespace headlab { namespace sweep_text_tests {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

SweepReport two_groups(bool several_win) {
  SweepReport report;
  for (const Index heads : {1, 4}) {
    SweepGroup group;
    group.name = "heads=" + std::to_string(heads);
    group.family = "all";
    group.seeds = {0, 1, 2};
    group.loss = {heads == 1 ? 0.946 : 0.0005, 0.0312};
    group.accuracy = {heads == 1 ? 0.7 : 1, 0.001};
    group.parameters = 12345;
    group.roles = {{"same", {0.953, 0.01}, 2, {HeadId{0, 0}, HeadId{0, 2}, HeadId{0, 1}}}};
    report.groups.push_back(group);
  }
  report.comparisons.resize(1);
  report.comparisons[0].best = report.comparisons[0].enough = 1;
  report.comparisons[0].loss_gain = {0.9455, 0.03};
  report.comparisons[0].keys = 4;
  report.comparisons[0].several_win = several_win;
  return report;
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

TEST(IntervalText, GivesTheHalfWidthTwoDigits) {
  EXPECT_EQ(interval_text({0.946, 0.0312}), "0.946 ± 0.031");
  EXPECT_EQ(interval_text({1, 0}), "1 ± 0");
  EXPECT_EQ(share_text({0.5, 0.25}), "0.5 ± 0.25");
  EXPECT_EQ(share_text({0.125, 0.25}), "0.125 (0 to 0.375)");
  EXPECT_EQ(share_text({0.9, 0.2}), "0.9 (0.7 to 1)");
  EXPECT_EQ(interval_text({0.25, kNaN}), "0.25");
}

TEST(SweepText, HasALineForEachGroup) {
  const std::string shown = sweep_text(two_groups(true));
  expect_part(shown, "0.946 ± 0.031");
  expect_part(shown, "12,345");
  expect_part(shown, "0.953 2/3");
}

TEST(SweepText, SaysOnWhatConditionSeveralHeadsWin) {
  expect_part(sweep_text(two_groups(true)),
              "several heads beat one: a query of this task must "
              "read up to 4 keys at once");
  expect_part(sweep_text(two_groups(false)), "several heads gain nothing over one");
  expect_part(sweep_text(two_groups(true)), "heads=4 is enough");
}

TEST(SweepText, ComparesTheLossOfOneHeadWithThatOfTheBest) {
  SweepReport report = two_groups(true);
  expect_part(sweep_text(report), "loss of heads=1 - loss of heads=4: 0.9455 ± 0.03; accuracy 0.7");
  report.comparisons[0].best = report.comparisons[0].enough = 0;
  expect_part(sweep_text(report), "heads=1 has the lowest loss; accuracy 0.7");
  EXPECT_EQ(sweep_text(report).find("loss of"), std::string::npos);
}

TEST(SweepText, DecidesNothingFromOneSeed) {
  SweepReport report = two_groups(false);
  report.comparisons[0].loss_gain.half_width = kNaN;
  expect_part(sweep_text(report), "one seed says nothing of chance");
  EXPECT_EQ(sweep_text(report).find("gain nothing"), std::string::npos);
}

TEST(SweepText, DoesNotCallATieWhatSeedsDoNotTell) {
  SweepReport report = two_groups(false);
  report.comparisons[0].accuracy_gain = 0.1;
  report.comparisons[0].loss_gain = {0.4, 0.5};
  expect_part(sweep_text(report), "is not told by ");
  EXPECT_EQ(sweep_text(report).find("gain nothing"), std::string::npos);
}

TEST(ShareText, StaysBetweenNoneAndAll) {
  EXPECT_EQ(share_text({0.5, 0.1}), "0.5 ± 0.1");
  EXPECT_EQ(share_text({0.95, 0.08}), "0.95 (0.87 to 1)");
  EXPECT_EQ(share_text({0.15, 0.17}), "0.15 (0 to 0.32)");
  EXPECT_EQ(share_text({0.25, kNaN}), "0.25");
}

TEST(PruneSweepText, ShowsEachGroupAndWhatIsMissing) {
  PruneSweepReport report;
  report.cells = 5;
  Curve curve{};
  curve.methods = {{.method = "greedy"}};
  curve.methods[0].points = {{.kept = 2, .heads = {}, .pruned = {0.25, 1}}};
  report.groups = {{"heads=4", {0, 1}, {curve, curve}}, {"heads=8", {0}, {curve}}};
  report.missing = {"s/heads=8,seed=1: curve-l0"};
  const std::string shown = prune_sweep_text(report);
  expect_part(shown, "heads=4 pruned\nmean ± 95% interval over 2 runs");
  expect_part(shown, "0.25 ± 0");
  expect_part(shown, "missing: 1 of 5 cells");
}

TEST(SweepText, NamesTheTaskOfAComparisonWhereThereAreSeveral) {
  SweepReport report = two_groups(true);
  EXPECT_EQ(sweep_text(report).find("all: "), std::string::npos);
  report.groups[0].family = report.groups[1].family = "task=relations";
  expect_part(sweep_text(report), "task=relations: several heads beat one");
}

TEST(SweepText, NamesWhatIsMissing) {
  SweepReport report;
  report.cells = 20;
  for (int i = 0; i < 12; ++i) report.missing.push_back("seed=" + std::to_string(i));
  const std::string shown = sweep_text(report);
  expect_part(shown, "no cell is finished yet");
  expect_part(shown, "missing: 12 of 20 cells: seed=0 seed=1");
  expect_part(shown, "seed=7 ...");
}

}  // namespace sweep_text_tests
}  // namespace headlab
