// Patterns as text: which shade is which weight, tokens on both axes, and what happens to long
// tokens and long sequences.
#include "headlab/app/report/heatmap.h"

#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"
#include "report/lines.h"
#include "support/golden_text.h"
#include "support/tensors.h"

namespace headlab { namespace {

using Tokens = std::vector<std::string>;

TEST(Heatmap, ShowsDestinationsAsRowsAndSourcesAsColumns) {
  const std::vector<Scalar> weights = {1, 0, 0, 0.8f, 0.2f, 0};
  EXPECT_EQ(heatmap(weights, {"the", "x"}, {"the", "x", "b"}),
            "     t\n"
            "     h\n"
            "     e x b\n"
            "the │██    │ 1.00\n"
            "  x │██░░  │ 0.80\n");
}

TEST(Heatmap, IsTheDarkerTheLargerTheWeight) {
  const std::vector<std::pair<double, const char*>> shades = {
      {0, "  "},   {9e-7, "  "}, {2e-6, "· "}, {.049, "· "}, {.05, "░░"}, {.24, "░░"},
      {.25, "▒▒"}, {.49, "▒▒"},  {.5, "▓▓"},   {.74, "▓▓"},  {.75, "██"}, {1, "██"}};
  for (const auto& [weight, shade] : shades) {
    // A little more, for what a float loses.
    const std::vector<Scalar> weights = {static_cast<Scalar>(weight * (1 + 1e-6))};
    const std::string row = lines_of(heatmap(weights, {"q"}, {"k"}))[1];
    EXPECT_EQ(row, std::string("q │") + shade + "│ " + fixed(weight, 2)) << weight;
  }
}

/// The columns of the lines of a heatmap, from the first weight to the bar at the end of the row.
TEST(Heatmap, KeepsColumnsBelowTheirTokensIfTheseAreWide) {
  const std::vector<Scalar> weights = {1, 0, 0, 0.8f, 0.2f, 0};
  EXPECT_EQ(heatmap(weights, {"\u4e2d\u6587", "x"}, {"\u4e2d", "e\u0301", "b"}),
            "      \u4e2de\u0301 b\n"
            "\u4e2d\u6587 │██    │ 1.00\n"
            "   x │██░░  │ 0.80\n");
}

TEST(Heatmap, GivesWideTokensTwoColumnsHoweverLongTheSequence) {
  const Tokens tokens(60, "\u6587");
  const std::string shown = heatmap(std::vector<Scalar>(60, 1), {"q"}, tokens, {.width = 40});
  for (const std::string& line : lines_of(shown)) EXPECT_LE(display_width(line), 80u) << line;
  EXPECT_NE(shown.find("\u6587\u6587"), shown.npos) << shown;
  const std::vector<std::string> lines = lines_of(shown);
  EXPECT_EQ(display_width(lines[lines.size() - 2]), display_width("   ") + 2 * 15) << shown;
}

TEST(Heatmap, MarksGroundTruthWithoutColour) {
  const std::vector<Scalar> weights = {0.9f, 0.1f, 0.8f, 0.2f};
  const std::vector<char> truth = {1, 0, 0, 1};
  EXPECT_EQ(heatmap(weights, {"a", "b"}, {"x", "y"}, {.truth = truth}),
            "   x y\n"
            "a │█■░░│ 0.90\n"
            "b │██░□│ 0.80\n"
            "\n"
            "■ ground truth, found  □ ground truth, missed\n");
}

TEST(Heatmap, MarksGroundTruthInNarrowCells) {
  const std::vector<Scalar> weights(60, 0);
  std::vector<char> truth(60);
  truth[7] = 1;
  const std::string map = heatmap(weights, {"q"}, Tokens(60, "k"), {.truth = truth});
  EXPECT_NE(map.find("│" + std::string(7, ' ') + "□"), std::string::npos);
}

TEST(Heatmap, NeedsGroundTruthForEachCell) {
  const std::vector<Scalar> weights(4);
  const std::vector<char> truth(3);
  expect_error(
      [&] {
        heatmap(weights, {"a", "b"}, {"a", "b"}, {.truth = truth});
      },
      {"ground truth has 3"});
}

TEST(SmallMaps, StandSideBySideUnderTheirCaptions) {
  const std::vector<Scalar> weights = {1, 0, 0, 1};
  const SmallMap map{.caption = "0.0", .rows = 2, .columns = 2, .weights = weights};
  EXPECT_EQ(small_maps({{"layer", {map, {.caption = "0.1 removed"}}}}),
            "layer\n"
            "0.0          0.1 removed\n"
            "██\n"
            "\n"
            "each cell is the largest weight of 2 queries x 1 keys\n");
}

TEST(SmallMaps, GiveEachQueryALineWithItsToken) {
  const std::vector<Scalar> weights = {1, 0, 0, 0.3f, 0.7f, 0, 0, 0, 1};
  const SmallMap map{.caption = "0.0",
                     .rows = 3,
                     .columns = 3,
                     .weights = weights,
                     .queries = {"the", "cat", "x"}};
  EXPECT_EQ(small_maps({{"layer", {map, {.caption = "0.1 removed"}}}}),
            "layer\n"
            "0.0          0.1 removed\n"
            "the ██\n"
            "cat ▒▒▓▓\n"
            "  x     ██\n"
            "\n"
            "a row for each query, with its token; a column for each key\n");
  const auto shown = [&](Index side, std::size_t heads) {
    const std::vector<Scalar> zeros(static_cast<std::size_t>(side * side));
    SmallMap large{.caption = "0.0", .rows = side, .columns = side, .weights = zeros};
    large.queries.assign(static_cast<std::size_t>(side), "a");
    return small_maps({{"layer", std::vector<SmallMap>(heads, large)}});
  };
  EXPECT_TRUE(shown(8, 32).ends_with("for each key\n"));
  EXPECT_TRUE(shown(16, 2).ends_with("for each key\n"));
  EXPECT_TRUE(shown(16, 8).ends_with("2 queries x 1 keys\n"));
  EXPECT_LE(lines_of(shown(16, 8)).size(), 24u);
  EXPECT_TRUE(shown(200, 1).ends_with(" keys\n"));
}

TEST(SmallMaps, MapsOfManyHeadsFitOneScreen) {
  const std::vector<Scalar> weights(64 * 64, 0.5f);
  const SmallMap map{.caption = "0.0", .rows = 64, .columns = 64, .weights = weights};
  std::string shown = small_maps({{"layer", std::vector<SmallMap>(8, map)}});
  EXPECT_LE(lines_of(shown).size(), 24u);
  for (std::size_t heads = 1; heads < 12; ++heads)
    for (const Index side : {8, 16, 32})
      shown += small_maps(
          {{"layer", std::vector<SmallMap>(heads, {"0.0", side, side,
                                                   std::span(weights).first(side * side)})}});
  expect_golden("report/small_maps.txt", shown);
}

TEST(Heatmap, CutsLongTokensAndCountsCharacters) {
  const std::vector<Scalar> weights = {1};
  const std::vector<std::string> lines =
      lines_of(heatmap(weights, {"überaus_langes_wort"}, {"überaus_langes_wort"}));
  ASSERT_EQ(lines.size(), 13u);
  EXPECT_EQ(lines[0], std::string(14, ' ') + "ü");
  EXPECT_EQ(lines[12], "überaus_lan… │██│ 1.00");
}

TEST(Heatmap, FitsItsWidthHoweverLongTheSequence) {
  for (std::size_t n : {1u, 20u, 44u, 45u, 89u, 90u, 120u, 200u, 1000u}) {
    const std::vector<Scalar> weights(n, static_cast<Scalar>(1 / static_cast<double>(n)));
    const std::string map = heatmap(weights, {"q"}, Tokens(n, "k"), {.width = 100});
    for (const std::string& line : lines_of(map)) EXPECT_LE(display_width(line), 100u) << n;
    EXPECT_EQ(map.find("neighbouring sources") != std::string::npos, n > 90) << n;
  }
}

TEST(Heatmap, ShowsTheLargestOfSourcesThatShareACell) {
  std::vector<Scalar> weights(100, 0);
  weights[57] = 1;
  const std::string map = heatmap(weights, {"q"}, Tokens(100, "k"), {.width = 30});
  EXPECT_EQ(lines_of(map)[0],
            "each cell is the largest weight of 5 neighbouring sources; the first is named");
  EXPECT_EQ(lines_of(map).back(),
            "q │" + std::string(11, ' ') + "█" + std::string(8, ' ') + "│ 1.00");
}

TEST(Heatmap, MayHaveNoRowsOrColumns) {
  EXPECT_NO_THROW(heatmap({}, {}, {}));
  EXPECT_NO_THROW(heatmap({}, {"q"}, {}));
}

TEST(Heatmap, NeedsAWeightForEachCell) {
  const std::vector<Scalar> weights(5);
  expect_error([&] { heatmap(weights, {"a", "b"}, {"a", "b", "c"}); }, {"2 x 3", "5 weights"});
}

}  // namespace
}  // namespace headlab
