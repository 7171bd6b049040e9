// Text of causes: signs, stars, verdicts, maps, and no line wider than a terminal.
#include "headlab/report/causes_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "headlab/report/table.h"

namespace headlab { namespace causes_text_tests {

/// The first line that begins with this, blanks aside; "" if none does.
std::string line_of(const std::string& text, const std::string& begin) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), 100u) << line;
    const std::size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos && line.compare(first, begin.size(), begin) == 0) return line;
  }
  return "";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

AblationReport two_layers() {
  AblationReport report;
  report.attention = {"blocks.0.attn", "blocks.1.attn"};
  report.loss = 0.5;
  report.targets = 2000;
  report.heads = {{{0, 1}, 2.5, {2.0, 1.9, 2.1, 0.0}}, {{1, 0}, 0.49, {-0.01, -0.03, 0.01, 0.3}}};
  return report;
}

TEST(AblationText, CarriesSignsIntervalsAndStars) {
  const std::string text = ablation_text(two_layers());
  const std::string silenced = line_of(text, "0.1 "), spared = line_of(text, "1.0 ");
  for (const char* part : {"+2 ", "[+1.9, +2.1]", "*"}) EXPECT_TRUE(holds(silenced, part)) << text;
  for (const char* part : {"-0.01", "[-0.03, +0.01]"}) EXPECT_TRUE(holds(spared, part)) << text;
  EXPECT_FALSE(holds(spared, "*"));
  EXPECT_TRUE(holds(text, "loss of the whole model: 0.5, on 2,000 targets\n")) << text;
}

TEST(AblationText, MapsModulesAndBornHeads) {
  const std::string text = ablation_text(two_layers());
  EXPECT_EQ(line_of(text, "0 │"), "0 │  ██│ 1.00");
  EXPECT_EQ(line_of(text, "1 │"), "1 │    │ 0.00");
}

TEST(AblationText, OfAModelWithoutHeadsSaysSo) {
  EXPECT_EQ(ablation_text({}), "the model has no head\n");
}

TEST(GoldEdgesText, SaysWherePatternAndCauseDisagree) {
  EdgeReport report;
  EdgeTest looks{.heads = {{0, 1}}, .lift = 0.9, .mass = 0.95, .share = 0};
  looks.gold.examples = 40;
  EdgeTest all{.heads = {{0, 0}, {0, 1}}, .mass = 1.5, .control_mass = 1.25, .share = 1};
  all.targets = 1234;
  all.gold = all.difference = {4.0, 3.9, 4.1, 0.0, 40};
  report.relations.push_back({{"same", ""}, {looks, all}});
  EdgeTest few{.heads = {{0, 0}}, .lift = 0.9};
  few.gold.examples = 2;
  report.relations.push_back({{"rare", ""}, {few}});
  EdgeTest nothing{.heads = {{0, 0}, {0, 1}}, .share = 1};
  nothing.gold = {-2e-5, -1e-3, 1e-3, 0.9, 40};
  EdgeTest part{.heads = {{0, 0}}, .lift = -1, .share = 32.3};
  part.gold.examples = 40;
  report.relations.push_back({{"idle", ""}, {part, nothing}});
  const std::string text = gold_edges_text(report);
  EXPECT_FALSE(holds(line_of(text, "idle"), "%"))
      << "no share of a cost that there is not: " << text;
  EXPECT_TRUE(holds(text, "pattern and cause disagree")) << text;
  EXPECT_TRUE(holds(text, "100.0%")) << text;
  EXPECT_NE(line_of(text, "same"), "");
  EXPECT_TRUE(holds(text, "1.50")) << text;  // both weights
  EXPECT_TRUE(holds(text, "1.25")) << text;
  EXPECT_TRUE(holds(text, "rests on targets, in examples: same 1,234 in 40, idle 0 in 40\n"))
      << text;
  EXPECT_TRUE(holds(text, "too few examples with a target to judge 1 relations: rare (2)")) << text;
}

TEST(InteractionsText, PutsTheStrongestFirstAndNamesThem) {
  InteractionReport report;
  report.pairs = {{{0, 0}, {0, 1}, 0.1, 0.1, 0.1, {0.0, -0.1, 0.1, 1.0, 40}},
                  {{0, 0}, {1, 0}, 1.0, 3.0, 3.0, {-2.0, -2.1, -1.9, 0.0, 40}},
                  {{0, 0}, {1, 1}, 1.5, 0.0, 0.0, {1.5, 1.4, 1.6, 0.0, 40}},
                  {{1, 0}, {1, 1}, 5.0, 0.0, 0.0, {5.0, 4.9, 5.1, 0.0, 40}, "same"}};
  const std::string text = interactions_text(report);
  EXPECT_TRUE(holds(line_of(text, "1.0 1.1"), "back each other up: same")) << text;
  EXPECT_TRUE(holds(line_of(text, "0.0 1.1"), "cost more together")) << text;
  EXPECT_TRUE(holds(line_of(text, "0.0 1.0"), "share a path")) << text;
  EXPECT_LT(text.find("1.0 1.1"), text.find("0.0 1.0"));
  EXPECT_LT(text.find("0.0 1.0"), text.find("0.0 0.1"));
}

TEST(CircuitsText, ListsTheStrongestCompositionFirst) {
  CircuitsReport report;
  report.heads = {{{0, 0}, 0.25, {0.5, -1.0}, {0.0, 1.0}}};
  report.compositions = {{{0, 0}, {1, 0}, 'Q', 0.1, 0.2, 3.0},
                         {{0, 0}, {1, 0}, 'K', 0.4, 0.2, 100.0}};
  const std::string text = circuits_text(report);
  EXPECT_TRUE(holds(line_of(text, "0.0  "), "0.50 -1.00")) << text;
  EXPECT_LT(text.find("keys"), text.find("queries")) << text;
}

TEST(TokenMatrixText, ShadesEachRowByItsLargestAndLeavesNegativesBlank) {
  const Tensor ov = Tensor::of({2, 4}, {9, 9, 4, 1, 9, 9, -3, 2});
  const std::string text = token_matrix_text(ov, {"a", "b"}, 1);
  EXPECT_EQ(line_of(text, "a │"), "a │██▒▒│ 1.00");
  EXPECT_EQ(line_of(text, "b │"), "b │  ██│ 1.00");
  EXPECT_ANY_THROW(token_matrix_text(ov, {"a", "b"}, 2));
}

TEST(AttributionText, EndsInTheSum) {
  AttributionReport report;
  report.parts = {"embedding", "0.0"};
  report.targets = {"next"};
  report.shares = {{0.25}, {8.0}};
  report.logits = {8.25};
  EXPECT_TRUE(holds(line_of(attribution_text(report), "sum"), "8.250"));
}

TEST(PatchingText, ShowsHeadsAndTheStream) {
  PatchReport report;
  report.heads = {{{1, 0}, 0.975}};
  report.residual = {{0.0, 1.0}, {0.5}};
  const std::string text = patching_text(report);
  EXPECT_TRUE(holds(line_of(text, "1.0"), "97.5%")) << text;
  EXPECT_EQ(line_of(text, "0 │"), "0 │  ██│ 1.00");
  EXPECT_EQ(line_of(text, "1 │"), "1 │▓▓  │ 0.50");
}

}  // namespace causes_text_tests
}  // namespace headlab
