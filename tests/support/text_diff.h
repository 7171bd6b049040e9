// Compares two texts line by line for the messages of tests: a unified diff with line numbers and
// two lines of context, cut after 40 lines. Lines longer than 120 bytes are shown around their
// first difference; control characters are shown as \xNN. Read next: golden_text.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace text_diff {

constexpr std::size_t kContext = 2;
constexpr std::size_t kMostLines = 40;
constexpr std::size_t kMostInARow = 12;  // of lines with the same mark, so that both texts are seen

constexpr std::size_t kWidth = 120;            // of a line, in bytes
constexpr std::size_t kMostPairs = 4'000'000;  // of lines that are compared

/// A line of both texts (' '), of the first ('-'), or of the second ('+').
struct Edit {
  char mark = ' ';
  std::string line;
  std::size_t first = 0, second = 0;  // line numbers, from 0, of the next line of each text
};

/// The lines of a text. If its last line has no newline, the line says so.
inline std::vector<std::string> lines_of_text(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) {
    lines.emplace_back(line);
  }
  if (lines.back().empty()) {
    lines.pop_back();
  } else {
    lines.back() += " (no newline at the end)";
  }
  return lines;
}

/// A table of the lengths of longest common subsequences: of a[i...] and b[j...] at (i, j).
class CommonLengths {
 public:
  CommonLengths(const std::vector<std::string>& a, const std::vector<std::string>& b)
      : columns_(b.size() + 1), lengths_((a.size() + 1) * columns_) {
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        const std::size_t longest = std::max(at(i + 1, j), at(i, j + 1));
        lengths_[i * columns_ + j] = a[i] == b[j] ? at(i + 1, j + 1) + 1 : longest;
      }
    }
  }
  std::size_t at(std::size_t i, std::size_t j) const { return lengths_[i * columns_ + j]; }

 private:
  std::size_t columns_;
  std::vector<std::size_t> lengths_;
};

/// The marks that turn `a` into `b`. Longest common subsequence; very long texts are replaced
/// whole.
inline std::string marks_between(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) {
  if (a.size() * b.size() > kMostPairs) {
    return std::string(a.size(), '-') + std::string(b.size(), '+');
  }
  const CommonLengths common(a, b);
  std::string marks;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool both = i < a.size() && j < b.size();
    if (both && a[i] == b[j]) {
      marks += ' ';
      ++i;
      ++j;
    } else if (i < a.size() && (!both || common.at(i + 1, j) >= common.at(i, j + 1))) {
      marks += '-';
      ++i;
    } else {
      marks += '+';
      ++j;
    }
  }
  return marks;
}

inline std::vector<Edit> edits_between(const std::vector<std::string>& a,
                                       const std::vector<std::string>& b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t head = 0;
  while (head < shorter && a[head] == b[head]) {
    ++head;
  }
  std::size_t tail = 0;
  while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  const auto middle = [&](const std::vector<std::string>& lines) {
    const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(head);
    const auto end = lines.end() - static_cast<std::ptrdiff_t>(tail);
    return std::vector<std::string>(begin, end);
  };
  const std::string marks =
      std::string(head, ' ') + marks_between(middle(a), middle(b)) + std::string(tail, ' ');
  std::vector<Edit> edits;
  std::size_t i = 0;
  std::size_t j = 0;
  for (const char mark : marks) {
    edits.push_back({mark, mark == '+' ? b[j] : a[i], i, j});
    i += mark != '+';
    j += mark != '-';
  }
  return edits;
}

/// The text with control characters as \xNN: a golden file may hold what steers a terminal.
inline std::string without_controls(const std::string& line) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_control = byte < 0x20 || byte == 0x7F;
    const std::string escaped = std::string("\\x") + kDigits[byte / 16] + kDigits[byte % 16];
    out += is_control ? escaped : std::string(1, c);
  }
  return out;
}

/// The part of a long line that begins a little before byte `difference`.
inline std::string shown_part(const std::string& line, std::size_t difference) {
  if (line.size() <= kWidth) {
    return without_controls(line);
  }
  const auto at_character = [&](std::size_t at) {
    while (at > 0 && at < line.size() && (line[at] & '\xC0') == '\x80') {
      --at;
    }
    return at;
  };
  const std::size_t wanted = difference > kWidth / 2 ? difference - kWidth / 2 : 0;
  const std::size_t begin = at_character(std::min(wanted, line.size() - kWidth));
  const std::size_t end = at_character(std::min(begin + kWidth, line.size()));
  const std::string part = without_controls(line.substr(begin, end - begin));
  return text(begin > 0 ? "..." : "", part, end < line.size() ? "..." : "");
}

/// The first byte in which two lines differ.
inline std::size_t first_difference(const std::string& a, const std::string& b) {
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(at - a.begin());
}

/// For each edit the byte from which it differs from the line that takes its place: the i-th line
/// removed is compared with the i-th line added.
inline std::vector<std::size_t> differences_of(const std::vector<Edit>& edits) {
  std::vector<std::size_t> differences(edits.size(), 0);
  std::vector<std::size_t> removed;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].mark == ' ') {
      removed.clear();
    } else if (edits[i].mark == '-') {
      removed.push_back(i);
    } else if (!removed.empty()) {
      const std::size_t before = removed.front();
      removed.erase(removed.begin());
      differences[i] = first_difference(edits[before].line, edits[i].line);
      differences[before] = differences[i];
    }
  }
  return differences;
}

/// Marks edits that are changes or within kContext lines of one.
inline std::vector<bool> near_changes(const std::vector<Edit>& edits) {
  std::vector<bool> near(edits.size(), false);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].mark == ' ') {
      continue;
    }
    const std::size_t begin = i > kContext ? i - kContext : 0;
    const std::size_t end = std::min(i + kContext + 1, edits.size());
    std::fill(near.begin() + static_cast<std::ptrdiff_t>(begin),
              near.begin() + static_cast<std::ptrdiff_t>(end), true);
  }
  return near;
}

}  // namespace text_diff

/// The differences of two texts as a unified diff: "@@ -12 +13 @@" begins a part at line 12 of the
/// first and line 13 of the second text, '-' marks lines of the first, '+' lines of the second.
/// Empty if the texts are the same.
inline std::string unified_diff(std::string_view first, std::string_view second) {
  using namespace text_diff;
  const std::vector<Edit> edits = edits_between(lines_of_text(first), lines_of_text(second));
  const std::vector<bool> near = near_changes(edits);
  const std::vector<std::size_t> differences = differences_of(edits);
  std::string shown;
  std::size_t lines = 0;
  std::size_t in_a_row = 0;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (!near[i]) {
      continue;
    }
    const bool same_mark = i > 0 && edits[i].mark == edits[i - 1].mark;
    in_a_row = same_mark ? in_a_row + 1 : 1;
    if (lines >= kMostLines || in_a_row > kMostInARow) {
      left_out += edits[i].mark != ' ';
      continue;
    }
    if (i == 0 || !near[i - 1]) {
      shown += text("@@ -", edits[i].first + 1, " +", edits[i].second + 1, " @@\n");
    }
    shown += text(edits[i].mark, shown_part(edits[i].line, differences[i]), "\n");
    ++lines;
  }
  if (left_out > 0) {
    shown += text("(", left_out, " more changed lines are not shown)\n");
  }
  return shown;
}

}  // namespace headlab
