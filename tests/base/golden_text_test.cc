// The comparison of outputs with golden files: the diff that a failing test shows, missing files,
// and how files are written. Read next: support/golden_text.h.
#include "support/golden_text.h"

#include "support/folders.h"

namespace headlab { namespace {

TEST(UnifiedDiff, IsEmptyForTheSameText) {
  EXPECT_EQ(unified_diff("", ""), "");
  EXPECT_EQ(unified_diff("a\nb\n", "a\nb\n"), "");
}

TEST(UnifiedDiff, ShowsChangedLinesWithNumbersAndTwoLinesOfContext) {
  EXPECT_EQ(unified_diff("1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\nfour\n5\n6\n7\n"),
            "@@ -2 +2 @@\n 2\n 3\n-4\n+four\n 5\n 6\n");
}

TEST(UnifiedDiff, ShowsDistantChangesAsPartsOfTheirOwn) {
  EXPECT_EQ(unified_diff("a\n1\n2\n3\n4\n5\n6\nb\n", "1\n2\n3\n4\n5\n6\nb\nnew\n"),
            "@@ -1 +1 @@\n-a\n 1\n 2\n@@ -7 +6 @@\n 6\n b\n+new\n");
}

TEST(UnifiedDiff, NamesAMissingNewlineAtTheEnd) {
  EXPECT_EQ(unified_diff("a\n", "a"), "@@ -1 +1 @@\n-a\n+a (no newline at the end)\n");
  EXPECT_EQ(unified_diff("", "a\n"), "@@ -1 +1 @@\n+a\n");
}

TEST(UnifiedDiff, ShowsControlCharacters) {
  EXPECT_EQ(unified_diff("a\n", "a\r\n"), "@@ -1 +1 @@\n-a\n+a\\x0D\n");
}

TEST(UnifiedDiff, ShowsLongLinesAroundTheirFirstDifference) {
  const std::string before(1000, 'x');
  const std::string after(500, 'z');
  const std::string diff =
      unified_diff(before + "old" + after + "\n", before + "new" + after + "\n");
  EXPECT_NE(diff.find("xxxold" + after.substr(0, 50)), diff.npos) << diff;
  EXPECT_NE(diff.find("xxxnew" + after.substr(0, 50)), diff.npos) << diff;
  EXPECT_LT(diff.size(), 300u);
}

TEST(UnifiedDiff, ShowsTwelveLinesInARowAndFortyInAll) {
  std::string old_text;
  std::string new_text;
  std::string changed_everywhere;
  for (int i = 0; i < 100; ++i) {
    old_text += text("old ", i, "\nsame\n");
    new_text += text("new ", i, "\n");
    changed_everywhere += text("new ", i, "\nsame\n");
  }
  const std::string replaced = unified_diff("a\n", "b\n" + new_text);
  EXPECT_EQ(std::ranges::count(replaced, '\n'), 1 + 1 + 12 + 1) << replaced;
  EXPECT_TRUE(replaced.ends_with("+new 10\n(89 more changed lines are not shown)\n")) << replaced;
  const std::string diff = unified_diff(old_text, changed_everywhere);
  EXPECT_EQ(std::ranges::count(diff, '\n'), 1 + 40 + 1) << diff;
  EXPECT_TRUE(diff.ends_with("more changed lines are not shown)\n")) << diff;
}

TEST(UnifiedDiff, ReplacesVeryLongTextsWhole) {
  std::string numbers;
  for (int i = 0; i < 3000; ++i) {
    numbers += text(i, "\n");
  }
  const std::string diff = unified_diff("a\n" + numbers + "b\n", "c\n" + numbers + "d\n");
  EXPECT_TRUE(diff.starts_with("@@ -1 +1 @@\n-a\n")) << diff;
}

using GoldenFiles = InAFolder;

TEST_F(GoldenFiles, AreWrittenAndThenCompared) {
  const std::string name = "lab/example.txt";
  EXPECT_EQ(golden_path(name), "tests/lab/golden/example.txt");
  EXPECT_TRUE(update_golden(folder.path(), name, "one\ntwo\n"));
  EXPECT_FALSE(update_golden(folder.path(), name, "one\ntwo\n")) << "it is up to date";
  EXPECT_EQ(read_file(folder / golden_path(name)), "one\ntwo\n");
  EXPECT_EQ(golden_problem(folder.path(), name, "one\ntwo\n"), "");
  EXPECT_EQ(golden_problem(folder.path(), name, "one\n2\n"),
            "tests/lab/golden/example.txt differs from the output (- golden file, + output):\n"
            "@@ -1 +1 @@\n one\n-two\n+2\n"
            "If this change is intended, write the file with `HEADLAB_UPDATE_GOLDEN=1 ctest -R "
            "test_lab` and review it with `git diff`.\n");
}

TEST_F(GoldenFiles, MissingFileFailsEvenIfTheOutputIsEmpty) {
  EXPECT_EQ(golden_problem(folder.path(), "lab/none.txt", ""),
            "the golden file tests/lab/golden/none.txt is missing. Write it with "
            "`HEADLAB_UPDATE_GOLDEN=1 ctest -R test_lab`, read it and commit it.\n");
}

TEST_F(GoldenFiles, BelongToALayer) { EXPECT_THROW(golden_path("example.txt"), Error); }

}  // namespace
}  // namespace headlab
