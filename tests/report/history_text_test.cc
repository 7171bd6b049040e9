// The history of heads as text: drawn as it is, thinned out where it is long.
#include "headlab/report/heads_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "headlab/report/table.h"

namespace headlab { namespace history_text_tests {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Sparkline, RisesFromLowToFullBlocks) {
  EXPECT_EQ(sparkline(std::vector<double>{0, 0.5, 1}, 10), "▁▅█");
}

TEST(Sparkline, StaysInItsRangeAndLeavesOutWhatIsUnknown) {
  EXPECT_EQ(sparkline(std::vector<double>{-3, kNaN, 7}, 10), "▁ █");
}

TEST(Sparkline, OfManyValuesKeepsTheEnds) {
  std::vector<double> values(1000, 0.5);
  values.front() = 0;
  values.back() = 1;
  const std::string line = sparkline(values, 20);
  EXPECT_EQ(display_width(line), 20u);
  EXPECT_TRUE(line.starts_with("▁") && line.ends_with("█")) << line;
}

TEST(Sparkline, OfNothingIsEmpty) { EXPECT_EQ(sparkline({}, 20), ""); }

TEST(HistoryText, SaysWhenEachRoleWasBorn) {
  HeadsHistory history;
  history.steps = {50, 100};
  history.relations = {{"same", {0, 3}, {0.1, 0.9}, 100}, {"other", {0, 1}, {0.2, 0.1}, -1}};
  const std::string shown = history_text(history);
  EXPECT_NE(shown.find("same       0.3   100  0.900  ▂▇"), std::string::npos) << shown;
  EXPECT_NE(shown.find("other      0.1     -  0.100"), std::string::npos) << shown;
  EXPECT_NE(shown.find("\n  50  0.100  0.200"), std::string::npos) << shown;
}

}  // namespace history_text_tests
}  // namespace headlab
