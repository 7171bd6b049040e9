// Texts in pieces and characters. Read next: include/headlab/core/base/text.h.
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <locale>

#include "headlab/core/base/error.h"
#include "headlab/core/base/json.h"

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
  EXPECT_EQ(harmless("a\x1b[2J\n\x7f\xC2\x9Bé"), "a\\x1B[2J\\x0A\\x7F\\xC2\\x9Bé");
  EXPECT_EQ(harmless("a\tb\n\x1b[38;5;7mc\x1b[2J", true), "a\tb\n\\x1B[38;5;7mc\\x1B[2J");
  EXPECT_EQ(harmless("\x1b[8mhidden\x1b[0m", true), "\\x1B[8mhidden\\x1B[0m");
  EXPECT_EQ(harmless("\x1b[", true), "\\x1B[");
}

TEST(Harmless, EscapesBytesThatAreNotUtf8AndSignsThatTurnText) {
  EXPECT_EQ(harmless("r\xff \x9B"
                     "31m\xC3"),
            "r\\xFF \\x9B31m\\xC3");
  EXPECT_EQ(harmless("\xED\xA0\x80"), "\\xED\\xA0\\x80");  // a surrogate
  EXPECT_EQ(harmless("\u0085"), "\\xC2\\x85");
  for (const char* sign : {"\u061c", "\u200e", "\u202a", "\u202e", "\u2066", "\u2069"}) {
    EXPECT_EQ(harmless(text("a", sign))[1], '\\') << sign;
  }
  EXPECT_EQ(harmless("\u05d0\u0627 \u00a0\u2029\U0001F600"), "\u05d0\u0627 \u00a0\u2029\U0001F600");
}

TEST(Harmless, GivesUtf8ForAnyTwoBytes) {
  std::size_t bad = 0;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string bytes = {static_cast<char>(first), static_cast<char>(second)};
      EXPECT_TRUE(valid_utf8(harmless(bytes), bad)) << first << " " << second;
    }
  }
}

TEST(Fixed, HasTheDecimalsThatAreAskedFor) {
  EXPECT_EQ(fixed(1.0 / 3, 3), "0.333");
  EXPECT_EQ(fixed(-2, 0), "-2");
  EXPECT_EQ(fixed(123456789.125, 2), "123456789.12");
  EXPECT_EQ(fixed(std::nan(""), 3), "-");
  EXPECT_EQ(fixed(HUGE_VAL, 3), "-");
}

TEST(Significant, HasFourDigitsAtMost) {
  EXPECT_EQ(significant(0.0005), "0.0005");
  EXPECT_EQ(significant(1.23449), "1.234");
  EXPECT_EQ(significant(1.2e-6), "1.2e-06");
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(std::nan("")), "-");
  EXPECT_EQ(two_digits(0.0123456), "0.012");
}

/// Numbers as some languages write them: 1.234,5.
struct Comma : std::numpunct<char> {
  Comma() : std::numpunct<char>(1) {}
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Numbers, LookTheSameInEveryLocale) {
  static const Comma comma;
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), &comma));
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // and that of C, where it is installed
  const std::string written = fixed(1234.5, 1) + " " + significant(0.25) + " " + grouped(1234) +
                              " " + number_text(1234.5) + text(' ', 1234567, ' ', 0.5);
  std::setlocale(LC_ALL, "C");
  std::locale::global(before);
  EXPECT_EQ(written, "1234.5 0.25 1,234 1234.5 1234567 0.5");
}

TEST(Grouped, HasACommaAfterEveryThousand) {
  for (const auto& [value, shown] :
       std::vector<std::pair<std::int64_t, const char*>>{{0, "0"},
                                                         {999, "999"},
                                                         {1000, "1,000"},
                                                         {1050624, "1,050,624"},
                                                         {-123, "-123"},
                                                         {-1234, "-1,234"},
                                                         {-123456, "-123,456"}})
    EXPECT_EQ(grouped(value), shown);
}

TEST(DisplayWidth, IsTwoForWideCharactersAndNoneForMarks) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("\u00e9"), 1u);
  EXPECT_EQ(display_width("e\u0301"), 1u) << "a combining accent";
  EXPECT_EQ(display_width("\u4e2d\u6587"), 4u) << "Chinese";
  EXPECT_EQ(display_width("\ud55c"), 2u) << "Korean";
  EXPECT_EQ(display_width("\u3042"), 2u) << "Japanese";
  EXPECT_EQ(display_width("\uff21"), 2u) << "a full-width A";
  EXPECT_EQ(display_width("\uff71"), 1u) << "a half-width kana";
  EXPECT_EQ(display_width("\U0001F600"), 2u) << "a pictogram";
  EXPECT_EQ(display_width("\U00020000"), 2u);
  EXPECT_EQ(display_width("\u0434 \u2588 \u2423 \u00b1"), 7u) << "of one column each";
}

TEST(ShellWord, QuotesWhatAShellWouldRead) {
  for (const char* plain : {"azAZ09", "-_=+:,./"}) EXPECT_EQ(shell_word(plain), plain);
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$(touch x)"), "'$(touch x)'");
  EXPECT_EQ(shell_word("a\nb\\'"), "$'a\\x0Ab\\\\\\''");
}

TEST(Padded, CountsColumnsAndNotCharacters) {
  EXPECT_EQ(padded("\u4e2d", 4), "\u4e2d  ");
  EXPECT_EQ(padded("\u4e2d", 4, true), "  \u4e2d");
  EXPECT_EQ(padded("\u4e2d\u6587", 3), "\u4e2d ") << "half a character is none";
}

TEST(Padded, FillsOrCutsToTheWidth) {
  EXPECT_EQ(counted(2), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(padded("ab", 4), "ab  ");
  EXPECT_EQ(padded("ab", 4, true), "  ab");
  EXPECT_EQ(padded("abcdef", 4), "abcd");
  EXPECT_EQ(padded("日本語", 4), "日本");
  EXPECT_EQ(padded("日本語", 7, true), " 日本語");
  EXPECT_EQ(padded("", 0), "");
  EXPECT_EQ(display_width("日本語"), 6u);
  EXPECT_EQ(characters_of("a日…"), (std::vector<std::string>{"a", "日", "…"}));
}

}  // namespace
}  // namespace headlab
