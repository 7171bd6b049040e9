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
#include <utility>

#include "core/base/digest.h"
#include "headlab/core/base/error.h"

#if __has_include(<xlocale.h>)  // macOS and the BSDs declare strtod_l here
#include <xlocale.h>
#endif

namespace headlab {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

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

std::string harmless(std::string_view text, bool lines) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool high = byte == 0xC2 && i + 1 < text.size() && (text[i + 1] & 0xE0) == 0x80;
    const bool is_layout = lines && (byte == '\n' || byte == '\t');
    const bool is_control = (byte < 0x20 && !is_layout) || byte == 0x7F || high;
    out += is_control ? "\\x" + hexadecimal(byte, 2) : std::string(1, text[i]);
  }
  return out;
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

std::string signed_text(double value) { return (value >= 0 ? "+" : "") + significant(value); }

std::vector<std::string> counted(std::size_t count) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

std::string two_digits(double value) {
  if (!(value > 0)) return "0";
  const double place = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return significant(std::round(value / place) * place);
}

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::ptrdiff_t first = value < 0 ? 1 : 0;
  for (std::ptrdiff_t i = std::ssize(digits) - 3; i > first; i -= 3) {
    digits.insert(digits.begin() + i, ',');
  }
  return digits;
}

std::string wrapped(const std::string& words, const std::string& indent, std::size_t columns) {
  std::string all, line;
  for (const std::string_view word : split(words, ' ')) {
    if (!line.empty() && display_width(line) + 1 + display_width(word) > columns) {
      all += line + "\n";
      line = indent + std::string(word);
    } else {
      line += (line.empty() ? "" : " ") + std::string(word);
    }
  }
  return all + line + "\n";
}

std::string trimmed_line(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (const char byte : text) {
    if (continues(byte) && !characters.empty()) {
      characters.back() += byte;
    } else {
      characters.emplace_back(1, byte);
    }
  }
  return characters;
}

std::vector<std::string> lines_of(const std::string& folded) {
  std::vector<std::string> lines = texts_of(split(folded, '\n'), std::identity());
  lines.pop_back();  // after the last newline
  return lines;
}

std::string shell_word(const std::string& word) {
  const bool plain = std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_=+:,./").find(c) != std::string_view::npos;
  });
  if (plain && !word.empty()) return word;
  if (harmless(word) != word) {  // a shell turns $'...' back into the word
    std::string steered = "$'";
    for (const char c : word) steered += c == '\'' || c == '\\' ? text('\\', c) : std::string(1, c);
    return harmless(steered) + "'";
  }
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string html_text(std::string_view text) {
  static constexpr std::pair<char, std::string_view> kEntities[] = {
      {'&', "&amp;"},  {'<', "&lt;"},   {'>', "&gt;"},
      {'"', "&quot;"}, {'\'', "&#39;"}, {'\0', "\xEF\xBF\xBD"}};  // U+FFFD: HTML has no NUL
  std::string html;
  for (const char c : text) {
    const auto entity = std::ranges::find(kEntities, c, &std::pair<char, std::string_view>::first);
    html += entity == std::end(kEntities) ? std::string_view(&c, 1) : entity->second;
  }
  return html;
}

}  // namespace headlab
