// Numbers as text. The fallback for libraries without floating-point from_chars must agree with the
// standard functions on every double, so both are run over the same values, in a locale with a
// decimal comma too. Read next: src/core/base/text.cc.
#include "headlab/core/base/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <limits>
#include <vector>

#include "headlab/core/base/random.h"

namespace headlab { namespace {

/// Doubles of all kinds: special ones, and random bits.
std::vector<double> many_doubles() {
  using Limits = std::numeric_limits<double>;
  std::vector<double> values = {0.1,           1.0 / 3,       1e22,        1e23,
                                5e-324,        -2.5,          1e-7,        0x1p53,
                                Limits::max(), Limits::min(), 0x1.8p-1074, 123456.75};
  Generator random(Key{1});
  while (values.size() < 3000) {
    const std::uint64_t low = random.bits();
    const auto value =
        std::bit_cast<double>(low | (static_cast<std::uint64_t>(random.bits()) << 32));
    if (std::isfinite(value)) values.push_back(value);
    values.push_back(random.uniform(-10, 10));
  }
  return values;
}

TEST(NumberText, ReadsBackBitForBit) {
  for (const double value : many_doubles()) {
    double back = 0;
    ASSERT_TRUE(parse_number(number_text(value), back)) << value;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back), std::bit_cast<std::uint64_t>(value));
  }
}

TEST(NumberText, WritesWholeNumbersWithoutExponent) {
  EXPECT_EQ(number_text(1000000), "1000000");
  EXPECT_EQ(number_text(0x1p53), "9007199254740992");
  EXPECT_EQ(number_text(-1e15), "-1000000000000000");
}

TEST(NumberText, IsShort) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(-0.25), "-0.25");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(number_text(-0.0), "-0");
  EXPECT_EQ(number_text(0.0), "0");
}

TEST(NumberText, IsNullWhenNotFinite) {
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(number_text(std::nan("")), "null");
}

TEST(ParseNumber, AcceptsNumbersOfJson) {
  for (const char* digits : {"0", "-0", "10", "-1.5", "1e5", "1E+05", "2.50e-3", "0.0", "0e0"}) {
    double value = -1;
    EXPECT_TRUE(parse_number(digits, value)) << digits;
    EXPECT_EQ(value, std::strtod(digits, nullptr)) << digits;
  }
}

TEST(ParseNumber, RefusesNumbersThatJsonRefuses) {
  for (const char* digits : {"", "-", "+1", "01", ".5", "1.", "1e", "1e+", "0x10", "inf", "nan",
                             "1 ", " 1", "1,5", "--1", "1.e5", "Infinity"}) {
    double value = 7;
    EXPECT_FALSE(parse_number(digits, value)) << digits;
    EXPECT_EQ(value, 7) << digits;
  }
}

TEST(ParseNumber, RefusesNumbersBeyondDouble) {
  double value = 0;
  EXPECT_FALSE(parse_number("1e999", value));
  EXPECT_FALSE(parse_number("-1e309", value));
}

TEST(ParseNumber, RoundsTinyNumbersToZero) {
  double value = 1;
  EXPECT_TRUE(parse_number("1e-999", value));
  EXPECT_EQ(value, 0);
  EXPECT_TRUE(parse_number("4.9e-324", value));
  EXPECT_EQ(value, 5e-324);
}

TEST(Numbers, ReadAPointWhenTheLanguageHasAComma) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  bool found = false;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"})
    found = found || std::setlocale(LC_ALL, name) != nullptr;
  double value = 0;
  const bool read = parse_number("0.5", value);
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_TRUE(read);
  EXPECT_EQ(value, 0.5);
  if (!found) GTEST_SKIP() << "no locale with a decimal comma is installed: tried in C only";
}

}  // namespace
}  // namespace headlab
