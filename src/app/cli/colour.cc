// Colours on a terminal: labels of messages, marks of ground truth, and cells with a tone. They are
// added to the finished text, after control characters of data were made harmless, and only if the
// output is a terminal and NO_COLOR (no-color.org) is not set. Read next: terminal.cc, program.cc.
#include "app/cli/colour.h"

#include <cstdlib>
#include <functional>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab::cli {
namespace {

constexpr const char *kRed = "\033[31m", *kGreen = "\033[32m", *kYellow = "\033[33m",
                     *kCyan = "\033[36m", *kFaint = "\033[2m", *kPlain = "\033[0m";

struct ColourOf {
  std::string_view begins;
  const char* colour;
};

/// Labels at the start of a line. Messages and commands are plain text from many places, so that
/// their labels are found by their words.
constexpr ColourOf kLabels[] = {{"error:", kRed},
                                {"hint:", kCyan},
                                {"note:", kYellow},
                                {"command:", kFaint}};

/// Marks of ground truth and owners, each a character with one meaning.
constexpr ColourOf kMarks[] = {{"■", kGreen}, {"□", kRed}, {"★", kGreen}, {"(*)", kGreen}};

std::string in_colour(std::string_view words, const char* colour) {
  return colour + std::string(words) + kPlain;
}

/// Returns nullptr for a text without a tone.
const char* colour_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return kGreen;
    case Tone::bad:
      return kRed;
    case Tone::open:
      return kYellow;
    case Tone::command:
    case Tone::none:
      break;
  }
  return nullptr;
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

std::string with_labels_and_marks(const std::string& words) {
  std::vector<std::string> lines = texts_of(split(words, '\n'), std::identity());
  for (std::string& line : lines) {
    colour_label(line);
    colour_marks(line);
  }
  return join(lines, "\n");
}

}  // namespace

bool wants_colour() {
  const char* given = std::getenv("NO_COLOR");
  return given == nullptr || *given == 0;
}

std::string coloured(const TonedText& shown) {
  std::string all;
  for (const auto& [words, tone] : shown.pieces()) {
    const char* const colour = colour_of(tone);
    all += colour == nullptr ? with_labels_and_marks(words) : in_colour(words, colour);
  }
  return all;
}

}  // namespace headlab::cli
