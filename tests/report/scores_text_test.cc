// Heads without gold, as a reader of the terminal sees them: tables and a map that fit the line.
#include "headlab/report/heads_text.h"

#include <cmath>
#include <map>
#include <sstream>

#include "headlab/base/error.h"
#include "headlab/report/table.h"
#include "support/tensors.h"

namespace headlab { namespace scores_text_tests {

/// Heads on a circle; with `kinds`, the last of them belongs to another kind of attention.
HeadsReport report_of(std::size_t count, bool kinds = false) {
  HeadsReport report;
  for (std::size_t h = 0; h < count; ++h) {
    HeadScores& head = report.heads.emplace_back();
    head.layer = static_cast<Index>(h / 8), head.head = static_cast<std::int32_t>(h % 8);
    const std::map<std::string, double> known = {
        {"entropy", 1.25}, {"focus", 0.327}, {"confidence", 0.5}, {"rank", 3.5}, {"distance", 0}};
    for (const ScoreEntry& row : score_table())
      head.values.push_back(known.contains(row.name)              ? known.at(row.name)
                            : row.name == std::string("previous") ? std::nan("")
                                                                  : 0.25);
    head.offsets = {{-1, 0.98}, {2, 0.02}};
    const double angle = 6.28 * static_cast<double>(h) / static_cast<double>(count);
    head.map = {std::cos(angle), std::sin(angle)};
  }
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      const auto& p = report.heads[a].map;
      const auto& q = report.heads[b].map;
      const bool apart = kinds && (a == count - 1) != (b == count - 1);
      report.distances.push_back(apart ? std::nan("") : std::hypot(p[0] - q[0], p[1] - q[1]));
    }
  }
  return report;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

void expect_to_fit(const std::string& shown) {
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100u) << line;
}

TEST(ScoresText, NamesEveryPatternScoreAndItsValue) {
  const std::string shown = scores_text(report_of(3));
  for (const ScoreEntry& row : score_table()) {
    if (row.from.weight == nullptr && row.from.value == nullptr) continue;
    EXPECT_TRUE(holds(shown, row.column.title != nullptr ? row.column.title : row.name))
        << row.name;
  }
  for (const char* part : {"0.2", "0.25", "  - ", "1.250", "0.327", "0.500", "3.50", "-1 (98%)"})
    EXPECT_TRUE(holds(shown, part)) << part << "\n" << shown;
  expect_to_fit(shown);
}

TEST(ScoresText, ShowsAsManyLabelsAsFit) {
  HeadsReport report = report_of(2);
  report.heads[0].labels = {"positional -1"};
  report.heads[1].labels.assign(20, "syntactic antecedent");
  const std::string shown = scores_text(report);
  EXPECT_TRUE(holds(shown, "positional -1\n")) << shown;
  EXPECT_TRUE(holds(shown, "syntactic antecedent and 19 more")) << shown;
  expect_to_fit(shown);
}

TEST(MapText, HasEveryHeadAndItsNearestNeighbour) {
  const HeadsReport report = report_of(24);
  const std::string shown = map_text(report);
  const std::string plane = shown.substr(0, shown.find("nearest  "));
  for (const HeadScores& head : report.heads)
    EXPECT_TRUE(holds(plane, text(head.layer, ".", head.head))) << shown;
  EXPECT_TRUE(holds(shown, "0.261")) << shown;  // 2 sin(pi / 24)
  expect_to_fit(shown);
}

TEST(MapText, KeepsHeadsOnTheSamePlaceApart) {
  HeadsReport report = report_of(4);
  for (HeadScores& head : report.heads) head.map = {0, 0};
  const std::string shown = map_text(report), plane = shown.substr(0, shown.find("nearest  "));
  for (const char* name : {"0.0", "0.1", "0.2", "0.3"}) EXPECT_TRUE(holds(plane, name)) << shown;
}

TEST(MapText, HasAPlaneForEachKindOfAttention) {
  const std::string shown = map_text(report_of(5, true));
  EXPECT_NE(shown.find("near each other"), shown.rfind("near each other"));
  EXPECT_EQ(map_text({}), "");
  EXPECT_EQ(scores_text({}), "");
}

}  // namespace scores_text_tests
}  // namespace headlab
