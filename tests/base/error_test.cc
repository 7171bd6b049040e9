// Errors and names that are nearly right: what a user sees after a slip of the fingers. The
// spellings here are slips of each kind that the distance counts: missing, extra, wrong and swapped
// letters. Read next: src/core/base/error.cc.
#include "headlab/core/base/error.h"

#include "headlab/core/base/text.h"
#include "support/errors.h"

namespace headlab { namespace {

const std::vector<std::string> kTasks = {"relations", "induction", "reverse", "text"};

TEST(Text, JoinsPartsAsStreamsPrintThem) { EXPECT_EQ(text("a", 1, ' ', 0.5), "a1 0.5"); }

TEST(Require, ThrowsTheTextOnlyWhenTheConditionFails) {
  EXPECT_NO_THROW(require(true, "never"));
  EXPECT_EQ(error_of([] { require(false, "width ", 3); }), "width 3");
}

TEST(Error, ShowsANulInsteadOfEndingThere) {
  const std::string message = {'n', 'o', ' ', 'a', '\0', 'b'};
  const Error error(message);
  EXPECT_STREQ(error.what(), "no a\\x00b");
  expect_error([&] { in_context("x", [&] { throw Error(message); }); }, {"x: no a\\x00b"});
}

TEST(NearestName, FindsSlipsOfEachKind) {
  EXPECT_EQ(nearest_name("relatons", kTasks), "relations");
  EXPECT_EQ(nearest_name("relaations", kTasks), "relations");
  EXPECT_EQ(nearest_name("relatiens", kTasks), "relations");
  EXPECT_EQ(nearest_name("txet", kTasks), "text");
  EXPECT_EQ(nearest_name("REVERSE", kTasks), "reverse");
}

TEST(NearestName, CountsSwappedNeighboursAsOneEdit) {
  EXPECT_EQ(nearest_name("ab", {"xb", "ba"}), "xb");  // both are one edit: the first is taken
  EXPECT_EQ(nearest_name("abc", {"bac"}), "bac");     // two edits would be more than a third
}

TEST(NearestName, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("quicksort", kTasks), "");
  EXPECT_EQ(nearest_name("x", {"y"}), "");
  EXPECT_EQ(nearest_name("x", {"ab"}), "");  // one letter to replace, one to add
  EXPECT_EQ(nearest_name("", kTasks), "");
  EXPECT_EQ(nearest_name("text", {}), "");
}

TEST(UnknownName, NamesTheNearestAndListsAll) {
  const Error error = unknown_name("task", "relatons", kTasks);
  EXPECT_STREQ(error.what(), "unknown task 'relatons'; did you mean 'relations'?");
  EXPECT_EQ(error.hint(), "known: relations, induction, reverse, text");
}

TEST(UnknownName, SuggestsNothingWhenNothingIsNear) {
  EXPECT_STREQ(unknown_name("task", "zzzzzz", kTasks).what(), "unknown task 'zzzzzz'");
}

TEST(Join, PutsTheSeparatorBetweenOnly) {
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join({"a"}, ", "), "a");
  EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
}

}  // namespace
}  // namespace headlab
