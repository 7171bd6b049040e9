// Tables and numbers as text, letter by letter.
#include "headlab/report/table.h"

#include <clocale>
#include <locale>

#include "support/tensors.h"

namespace headlab { namespace {

TEST(Texts, AlignsWordsToTheLeftAndNumbersToTheRight) {
  Texts table({"task", "loss", "note"});
  table.add({"relations", "0.5", "good"});
  table.add({"text", "12.25", ""});
  EXPECT_EQ(table.to_string(),
            "task        loss  note\n"
            "---------  -----  ----\n"
            "relations    0.5  good\n"
            "text       12.25\n");
}

TEST(Texts, CountsCharactersAndNotBytes) {
  Texts table({"token", "n"});
  table.add({"häß", "1"});
  table.add({"日本語", "2"});
  table.add({"abc", "3"});
  EXPECT_EQ(table.to_string(),
            "token  n\n"
            "-----  -\n"
            "häß    1\n"
            "日本語    2\n"
            "abc    3\n");
}

TEST(Texts, TakesADashForANumber) {
  Texts table({"x"});
  table.add({"10"});
  table.add({"-"});
  EXPECT_EQ(table.to_string(), " x\n--\n10\n -\n");
}

TEST(Texts, MayHaveNoRows) { EXPECT_EQ(Texts({"a", "b"}).to_string(), "a  b\n-  -\n"); }

TEST(Texts, NeedsACellForEachColumn) {
  Texts table({"a", "b"});
  expect_error([&] { table.add({"1"}); }, {"2 columns", "row of 1"});
  expect_error([&] { table.add({"1", "2", "3"}); }, {"row of 3"});
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
  const std::string written = fixed(1234.5, 1) + " " + significant(0.25) + " " + grouped(1234);
  std::setlocale(LC_ALL, "C");
  std::locale::global(before);
  EXPECT_EQ(written, "1234.5 0.25 1,234");
}

TEST(Columns, StandAtTheRightAndNeedACellForEachRow) {
  Texts table({"a"});
  table.add({"1"});
  table.add_column("b", {"x"});
  EXPECT_EQ(table.to_string(), "a  b\n-  -\n1  x\n");
  expect_error([&] { table.add_column("c", {}); }, {"1 rows", "0 cells"});
}

TEST(Grouped, HasACommaAfterEveryThousand) {
  for (const auto& [value, shown] :
       std::vector<std::pair<Index, const char*>>{{0, "0"},
                                                  {999, "999"},
                                                  {1000, "1,000"},
                                                  {1050624, "1,050,624"},
                                                  {-123, "-123"},
                                                  {-1234, "-1,234"},
                                                  {-123456, "-123,456"}})
    EXPECT_EQ(grouped(value), shown);
}

TEST(Padded, FillsOrCutsToTheWidth) {
  EXPECT_EQ(padded("ab", 4), "ab  ");
  EXPECT_EQ(padded("ab", 4, true), "  ab");
  EXPECT_EQ(padded("abcdef", 4), "abcd");
  EXPECT_EQ(padded("日本語", 2), "日本");
  EXPECT_EQ(padded("日本語", 4, true), " 日本語");
  EXPECT_EQ(padded("", 0), "");
  EXPECT_EQ(display_width("日本語"), 3u);
  EXPECT_EQ(characters_of("a日…"), (std::vector<std::string>{"a", "日", "…"}));
}

TEST(Texts, IsWrittenForOtherPrograms) {
  Texts table({"head", "a, b"});
  table.add({"0.1", "say \"x\" ± 2%"});
  EXPECT_EQ(table.to_csv(), "head,\"a, b\"\n0.1,\"say \"\"x\"\" ± 2%\"\n");
  Texts counts({"n"});
  counts.add({"1,234,567"}), counts.add({"-1,234"}), counts.add({"1,2"});
  EXPECT_EQ(counts.to_csv(), "n\n1234567\n-1234\n\"1,2\"\n") << "programs read plain numbers";
  Texts tokens({"token"});
  tokens.add({","}), tokens.add({",123"}), tokens.add({"\r"});
  EXPECT_EQ(tokens.to_csv(), "token\n\",\"\n\",123\"\n\\x0D\n") << "no token gets lost";
  const std::string latex = table.to_latex();
  EXPECT_NE(latex.find("0.1 & say \"x\" $\\pm$ 2\\% \\\\\n"), std::string::npos) << latex;
}

TEST(TableCollection, HoldsEveryTableThatIsShownWhileItLives) {
  Texts table({"a"});
  table.add({"1"});
  {
    const TableCollection collection(TableFormat::csv);
    EXPECT_TRUE(TableCollection::active());
    (void)table.to_string();
    (void)table.to_string();
    EXPECT_EQ(collection.tables(), "a\n1\n\na\n1\n");
  }
  EXPECT_FALSE(TableCollection::active());
}

}  // namespace
}  // namespace headlab
