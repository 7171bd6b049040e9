// Texts and numbers (text.h). The grammar of JSON is checked here, so that strtod never sees "inf",
// "0x1p3", a leading + or a space, which it would accept. `split` keeps empty pieces, so that a
// reader of lists can report the missing value in "1++3". Read next: json_parse.cc, which reads
// numbers through this file.
#include "headlab/core/base/text.h"

#include <locale.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iomanip>

#include "core/base/digest.h"
#include "headlab/core/base/error.h"

#if __has_include(<xlocale.h>)  // macOS and the BSDs declare strtod_l here
#include <xlocale.h>
#endif

namespace headlab {
namespace {

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at;
}

}  // namespace

std::vector<std::string_view> split(std::string_view whole, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0; begin <= whole.size();) {
    const std::size_t end = std::min(whole.find(separator, begin), whole.size());
    pieces.push_back(whole.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

void append_utf8(std::string& out, char32_t point) {
  int followers = 3;
  if (point < 0x80) {
    followers = 0;
  } else if (point < 0x800) {
    followers = 1;
  } else if (point < 0x10000) {
    followers = 2;
  }
  constexpr char32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLead[followers] | (point >> (6 * followers)));
  for (int i = followers - 1; i >= 0; --i) {
    out += static_cast<char>(0x80 | ((point >> (6 * i)) & 0x3F));
  }
}

std::size_t number_length(std::string_view text) {
  const auto is = [&](std::size_t at, char c) { return at < text.size() && text[at] == c; };
  const std::size_t start = is(0, '-') ? 1 : 0;
  std::size_t end = is(start, '0') ? start + 1 : skip_digits(text, start);
  if (end == start) return 0;
  if (is(end, '.')) {
    const std::size_t fraction = skip_digits(text, end + 1);
    if (fraction > end + 1) end = fraction;
  }
  if (is(end, 'e') || is(end, 'E')) {
    const std::size_t sign = is(end + 1, '+') || is(end + 1, '-') ? end + 2 : end + 1;
    const std::size_t exponent = skip_digits(text, sign);
    if (exponent > sign) end = exponent;
  }
  return end;
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "null";
  const bool whole = std::abs(value) <= 0x1p53 && value == std::trunc(value);
  const bool minus_zero = value == 0 && std::signbit(value);
  if (whole && !minus_zero) return std::to_string(static_cast<std::int64_t>(value));
  char buffer[32];  // the longest shortest double has 24 characters
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

bool parse_number(std::string_view digits, double& value) {
  static const locale_t classic = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::size_t length = number_length(digits);
  if (length == 0 || length < digits.size()) return false;
  const double read = strtod_l(std::string(digits).c_str(), nullptr, classic);
  if (std::isfinite(read)) value = read;
  return std::isfinite(read);
}

std::string fixed(double value, int digits) {
  return std::isfinite(value) ? text(std::fixed, std::setprecision(digits), value) : "-";
}

std::string significant(double value) {
  return std::isfinite(value) ? text(std::setprecision(4), value) : "-";
}

}  // namespace headlab
