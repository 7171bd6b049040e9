// Numbers, lines and words for readers (words.h). Lines are wrapped by the columns that a terminal
// needs, not by bytes: widths of characters are in text_width.cc. Read next: text_width.cc;
// src/app/report/text_table.cc, the main user.
#include "headlab/lab/results/words.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string two_digits(double value) {
  if (!(value > 0)) return "0";
  const double place = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return significant(std::round(value / place) * place);
}

std::string signed_text(double value) { return (value >= 0 ? "+" : "") + significant(value); }

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::ptrdiff_t first = value < 0 ? 1 : 0;
  for (std::ptrdiff_t i = std::ssize(digits) - 3; i > first; i -= 3) {
    digits.insert(digits.begin() + i, ',');
  }
  return digits;
}

std::vector<std::string> counted(std::size_t count) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

std::string trimmed_line(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
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
