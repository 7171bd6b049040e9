// Texts in pieces and characters. Read next: include/headlab/base/text.h.
#include "headlab/base/text.h"

#include <gtest/gtest.h>

namespace headlab { namespace {

using Pieces = std::vector<std::string_view>;

TEST(Split, KeepsEmptyPieces) {
  EXPECT_EQ(split("1+3+same", '+'), (Pieces{"1", "3", "same"}));
  EXPECT_EQ(split("1++3+", '+'), (Pieces{"1", "", "3", ""}));
  EXPECT_EQ(split("", '+'), Pieces{""});
}

TEST(AppendUtf8, TakesOneToFourBytes) {
  std::string out;
  for (const char32_t point : {U'a', U'\u00e9', U'\u20ac', U'\U0001F600'}) append_utf8(out, point);
  EXPECT_EQ(out, "a\u00e9\u20ac\U0001F600");
}

TEST(Harmless, IsATextThatCannotSteerATerminal) {
  EXPECT_EQ(harmless("a\x1b[2J\n\x7f\xC2\x9Bé"), "a\\x1B[2J\\x0A\\x7F\\xC2\x9Bé");
  EXPECT_EQ(harmless("a\tb\n\x1b[38;5;7mc\x1b[2J", true), "a\tb\n\x1b[38;5;7mc\\x1B[2J");
  EXPECT_EQ(harmless("\x1b[", true), "\\x1B[");
}

}  // namespace
}  // namespace headlab
