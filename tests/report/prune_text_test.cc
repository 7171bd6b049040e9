// Results of pruning as a reader of the terminal sees it.
#include <gtest/gtest.h>

#include "headlab/app/report/result_text.h"
#include "headlab/lab/prune/prune.h"
#include "report/lines.h"

namespace headlab { namespace {

TEST(PruneText, ShowsEachStageAndTheHeadsThatAreLeft) {
  PruneResult result;
  result.kept = {{0, 1}, {2, 3}};
  result.removed = {{0, 0}};
  result.before = {{0.0005, 1}, 1050624, 1.5};
  result.removed_only = {{0.25, 0.875}, 1000, 1.25};
  result.after = {{0.001, 0.9999}, 1000, 1.25};
  const std::string shown = text_of(result_of(result));
  EXPECT_NE(line_with(shown, {"before", " 3 ", "0.0005", "1.0000", "1,050,624", "1.50"}), "");
  EXPECT_NE(line_with(shown, {"heads removed", " 2 ", "0.25", "0.8750", "1,000"}), "");
  EXPECT_NE(line_with(shown, {"after", " 2 ", "0.001", "0.9999"}), "");
  EXPECT_NE(line_with(shown, {"kept heads: 0.1 2.3"}), "") << shown;
  result.kept.clear();
  EXPECT_NE(line_with(text_of(result_of(result)), {"kept heads: none"}), "");
}

}  // namespace
}  // namespace headlab
