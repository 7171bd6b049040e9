// Colours on a terminal: labels of messages, marks of ground truth, and conclusions in tables. They
// are added to the finished text, after control characters of data were made harmless, and only if
// the output is a terminal and NO_COLOR (no-color.org) is not set. Read next: terminal.cc,
// program.cc.
#include "app/cli/colour.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

constexpr const char *kRed = "\033[31m", *kGreen = "\033[32m", *kYellow = "\033[33m",
                     *kCyan = "\033[36m", *kFaint = "\033[2m", *kPlain = "\033[0m";

struct ColourOf {
  std::string_view begins;
  const char* colour;
};

/// Labels at the start of a line.
constexpr ColourOf kLabels[] = {{"error:", kRed},
                                {"hint:", kCyan},
                                {"note:", kYellow},
                                {"command:", kFaint}};

/// Beginnings of conclusions.
constexpr ColourOf kConclusions[] = {{"owner", kGreen},       {"several heads", kGreen},
                                     {"redundant", kGreen},   {"lower", kGreen},
                                     {"earlier", kGreen},     {"higher", kGreen},
                                     {"later", kGreen},       {"equal", kGreen},
                                     {"compensates", kGreen}, {"no head", kRed},
                                     {"worse", kRed},         {"fails", kRed},
                                     {"could be", kYellow},   {"not tested", kYellow},
                                     {"too few", kYellow},    {"inconclusive", kYellow},
                                     {"one head", kYellow},   {"no attention", kYellow}};

/// Marks of ground truth and owners.
constexpr ColourOf kMarks[] = {{"■", kGreen}, {"□", kRed}, {"★", kGreen}, {"(*)", kGreen}};

std::string in_colour(std::string_view words, const char* colour) {
  return colour + std::string(words) + kPlain;
}

const char* colour_of_conclusion(std::string_view conclusion) {
  for (const ColourOf& row : kConclusions) {
    if (conclusion.starts_with(row.begins)) return row.colour;
  }
  return nullptr;
}

/// Columns [begin, end) of a terminal.
struct Span {
  std::size_t begin, end;
};

/// Returns the byte at which a column of the terminal begins; the size of a shorter line.
std::size_t byte_at(const std::string& line, std::size_t column) {
  std::size_t byte = 0;
  std::size_t columns = 0;
  for (const std::string& character : characters_of(line)) {
    if (columns >= column) break;
    columns += character_width(character);
    byte += character.size();
  }
  return byte;
}

/// Returns whether a line is the rule below the titles of a table.
bool is_rule(const std::string& line) {
  return line.find('-') != line.npos && line.find_first_not_of("- ") == line.npos;
}

/// Returns the columns of the title "verdict" in the line above a rule; none if it has none.
std::optional<Span> conclusion_span(const std::string& titles, const std::string& rule) {
  const std::size_t begin = titles.find("verdict");
  const bool is_column = begin != titles.npos && begin < rule.size() && rule[begin] == '-' &&
                         (begin == 0 || rule[begin - 1] == ' ');
  if (!is_column) return std::nullopt;
  return Span{begin, std::min(rule.find(' ', begin), rule.size())};
}

void colour_label(std::string& line) {
  for (const ColourOf& row : kLabels) {
    if (!line.starts_with(row.begins)) continue;
    line.replace(0, row.begins.size(), in_colour(row.begins, row.colour));
    return;
  }
}

void colour_marks(std::string& line) {
  for (const ColourOf& mark : kMarks) {
    std::size_t at = line.find(mark.begins);
    while (at != line.npos) {
      const std::string shown = in_colour(mark.begins, mark.colour);
      line.replace(at, mark.begins.size(), shown);
      at = line.find(mark.begins, at + shown.size());
    }
  }
}

/// Colours the conclusion of a row, which is one colour with the marks in it, and the marks outside
/// it.
void colour_row(std::string& line, const Span& span) {
  const std::size_t begin = byte_at(line, span.begin);
  const std::size_t end = byte_at(line, span.end);
  std::string before = line.substr(0, begin);
  std::string cell = line.substr(begin, end - begin);
  std::string after = line.substr(end);
  colour_marks(before);
  colour_marks(after);
  if (const char* const colour = colour_of_conclusion(cell); colour != nullptr) {
    const std::size_t length = cell.find_last_not_of(' ') + 1;
    cell.replace(0, length, in_colour(cell.substr(0, length), colour));
  } else {
    colour_marks(cell);
  }
  line = before + cell + after;
}

}  // namespace

bool wants_colour() {
  const char* given = std::getenv("NO_COLOR");
  return given == nullptr || *given == 0;
}

std::string coloured(const std::string& shown) {
  std::vector<std::string> lines = texts_of(split(shown, '\n'), std::identity());
  std::optional<Span> conclusion;
  std::string titles;
  for (std::string& line : lines) {
    const std::string plain = line;
    if (is_rule(plain)) {
      conclusion = conclusion_span(titles, plain);
    } else if (plain.empty()) {
      conclusion.reset();
    }
    titles = plain;
    if (conclusion && !is_rule(plain)) {
      colour_row(line, *conclusion);
      continue;
    }
    colour_label(line);
    colour_marks(line);
  }
  return join(lines, "\n");
}

}  // namespace headlab::cli
