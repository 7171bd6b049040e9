// Numbers as text and back (numbers.h). The grammar of JSON is checked here, so that the
// converters below never see "inf", "0x1p3", a leading + or a space, which some of them would
// take. Read next: json_parse.cc, which reads numbers through this file.
#include "headlab/base/numbers.h"

#include <locale.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <locale>
#include <sstream>
#include <version>

#if __has_include(<xlocale.h>)  // macOS and the BSDs keep strtod_l here
#include <xlocale.h>
#endif

namespace headlab {
namespace {

#if defined(__cpp_lib_to_chars) && !defined(HEADLAB_NO_FLOAT_FROM_CHARS)
std::string shortest(double value) {
  char buffer[32];  // the longest shortest double has 24 characters
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

bool convert(std::string_view digits, double& value) {
  const char* end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, value);
  if (result.ec == std::errc()) return result.ptr == end;
  return detail::convert_portable(digits, value);  // too large, or so small that it is 0
}
#else
std::string shortest(double value) { return detail::shortest_portable(value); }
bool convert(std::string_view digits, double& value) {
  return detail::convert_portable(digits, value);
}
#endif

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at;
}

}  // namespace

std::size_t detail::number_length(std::string_view text) {
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

std::string detail::shortest_portable(double value) {
  std::string best;
  for (int precision = 1; precision <= 17; ++precision) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out << std::setprecision(precision) << value;
    best = out.str();
    double back = 0;
    if (convert_portable(best, back) && back == value) break;
  }
  return best;
}

bool detail::convert_portable(std::string_view digits, double& value) {
  static const locale_t classic = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string terminated(digits);
  char* end = nullptr;
  const double result = strtod_l(terminated.c_str(), &end, classic);
  if (end != terminated.c_str() + terminated.size() || !std::isfinite(result)) return false;
  value = result;
  return true;
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "null";
  const bool whole = std::abs(value) <= 0x1p53 && value == std::trunc(value);
  const bool minus_zero = value == 0 && std::signbit(value);
  if (whole && !minus_zero) return std::to_string(static_cast<std::int64_t>(value));
  return shortest(value);
}

bool parse_number(std::string_view digits, double& value) {
  const std::size_t length = detail::number_length(digits);
  return length > 0 && length == digits.size() && convert(digits, value);
}

}  // namespace headlab
