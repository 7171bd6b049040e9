// Text of causes: signs, conclusions, maps, no line wider than a terminal; and what is read back.
#include <gtest/gtest.h>

#include "headlab/app/report/result_text.h"
#include "headlab/lab/heads/causes/attribution.h"
#include "headlab/lab/heads/causes/pairs.h"
#include "headlab/lab/heads/causes/patching.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/weights/circuits.h"
#include "headlab/lab/results/words.h"
#include "report/lines.h"
#include "support/golden_text.h"

namespace headlab { namespace causes_text_tests {

/// Expects that JSON keeps the result, and that its text is that of a golden file.
void expect_shown(const Result& found, const std::string& golden) {
  const Json json = found;
  EXPECT_EQ(Json(result_of(json)), json);
  const std::string text = text_of(found);
  for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), 80u) << line;
  expect_golden(golden, text);
}

AblationReport two_layers() {
  AblationReport report;
  report.loss = 0.5;
  report.targets = 2000;
  report.heads = {{{0, 1}, 2.5, {2.0, 1.9, 2.1, 0.0, 40}},
                  {{1, 0}, 0.49, {-0.01, -0.03, 0.02, 0.3, 40}}};
  return report;
}

TEST(AblationText, CarriesSignsAndIntervalsAndMapsOriginalIndices) {
  expect_shown(result_of(two_layers()), "report/ablation.txt");
}

TEST(TruthEdgesText, SaysWherePatternAndCauseDisagree) {
  EdgeReport report;
  EdgeTest looks{.heads = {{0, 1}}, .lift = 0.9, .mass = 0.95, .share = 0};
  looks.truth.examples = 40;
  EdgeTest all{.heads = {{0, 0}, {0, 1}}, .mass = 1.5, .random_mass = 1.25, .share = 1};
  all.targets = 1234;
  all.truth = all.difference = {4.0, 3.9, 4.1, 0.0, 40};
  report.relations.push_back({{"same", ""}, {looks, all}});
  EdgeTest few{.heads = {{0, 0}}, .lift = 0.9};
  few.truth.examples = 2;
  report.relations.push_back({{"rare", ""}, {few}});
  EdgeTest nothing{.heads = {{0, 0}, {0, 1}}, .share = 1};
  nothing.truth = {-2e-5, -1e-3, 1e-3, 0.9, 40};
  EdgeTest part{.heads = {{0, 0}}, .lift = -1, .share = 32.3};
  part.truth.examples = 40;
  report.relations.push_back({{"idle", ""}, {part, nothing}});
  const Result found = result_of(report);
  expect_shown(found, "report/truth_edges.txt");
  EXPECT_TRUE(found.tables[0].cells("share")[3].is_null()) << "no share of a cost that is none";
  const std::size_t conclusion = found.tables[0].index_of("verdict");
  EXPECT_EQ(found.tables[0].rows[2].tone(conclusion), Tone::open) << "too few examples";
  EXPECT_EQ(found.tables[0].rows[0].tone(conclusion), Tone::none);
  EXPECT_EQ(Json(found).at("relations").items()[0].at("tests").items()[1].at("truth").at("low"),
            Json(3.9));
}

TEST(InteractionsText, PutsRedundantPairsFirstThenThoseThatTakeOver) {
  PairsReport report;
  const PairedChange sure{2.0, 1.9, 2.1, 0.0, 40};
  report.pairs = {{{0, 0}, {0, 1}, 0.1, 0.1, 0.1, {0.0, -0.1, 0.1, 1.0, 40}},
                  {{0, 0}, {1, 1}, 1.5, 0.0, 0.0, {}, "same", {true, sure}, {false, {}, sure}},
                  {{1, 0}, {1, 1}, 0.2, 0.0, 5.0, {}, "same", {true, sure}, {true, sure}, sure, 1}};
  expect_shown(result_of(report), "report/interactions.txt");
}

TEST(CircuitsText, ListsTheStrongestCompositionFirst) {
  CircuitsReport report;
  report.heads = {{{0, 0}, 0.25, {0.5, -1.0}, {0.0, 1.0}}};
  report.compositions = {{{0, 0}, {1, 0}, 'Q', 0.1, 0.2, 3.0},
                         {{0, 0}, {1, 0}, 'K', 0.4, 0.2, 100.0}};
  expect_shown(result_of(report), "report/circuits.txt");
}

TEST(TokenMatrixText, ShadesEachRowByItsLargestAndLeavesNegativesBlank) {
  const Tensor ov = Tensor::of({2, 4}, {9, 9, 4, 1, 9, 9, -3, 2});
  const std::string text = token_matrix_text(ov, {"a", "b"}, {"a", "b"}, 1);
  EXPECT_EQ(line_with(text, {"a │"}), "a │██▒▒│ 1.00");
  EXPECT_EQ(line_with(text, {"b │"}), "b │  ██│ 1.00");
  EXPECT_ANY_THROW(token_matrix_text(ov, {"a", "b"}, {"a", "b"}, 2));
}

TEST(AttributionText, EndsInTheSum) {
  AttributionReport report;
  report.parts = {"embedding", "0.0"};
  report.targets = {"next"};
  report.shares = {{0.25}, {8.0}};
  report.low = {{0.2}, {7.5}};
  report.high = {{0.3}, {8.5}};
  report.logits = {8.25};
  report.counts = {100};
  expect_shown(result_of(report), "report/attribution.txt");
}

TEST(PatchingText, ShowsHeadsAndTheStream) {
  PatchReport report;
  report.heads = {{{1, 0}, 0.975}};
  report.residual = {{0.0, 1.0}, {0.5}};
  expect_shown(result_of(report), "report/patching.txt");
}

}  // namespace causes_text_tests
}  // namespace headlab
