// Errors and suggestions for misspelt names. The distance is optimal string alignment (Damerau
// 1964, each part edited at most once): it counts swapped neighbours, the most common typing error,
// as one edit. Read next: headlab/core/base/error.h.
#include "headlab/core/base/error.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "headlab/core/base/text.h"

namespace headlab {
namespace {

char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_letter(char a, char b) { return lower_case(a) == lower_case(b); }

/// Returns the edit distance. Uses three rows of the table of distances between prefixes of a and
/// b, in memory that is kept during a search, because a wrong name is compared with every known
/// one.
std::size_t edit_distance(std::string_view a, std::string_view b, std::vector<std::size_t>& rows) {
  rows.resize(3 * (b.size() + 1));
  std::size_t *before = rows.data(), *last = before + b.size() + 1, *row = last + b.size() + 1;
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string with_visible_nuls(const std::string& message) {
  std::string visible;
  for (const char c : message) {
    visible += c == '\0' ? "\\x00" : std::string(1, c);
  }
  return visible;
}

}  // namespace

Error::Error(const std::string& what, std::string hint)
    : std::runtime_error(with_visible_nuls(what)), hint_(std::move(hint)) {}

void print_note(const std::string& note) {
  std::fputs(text("note: ", note, "\n").c_str(), stderr);
  std::fflush(stderr);
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  std::vector<std::size_t> rows;
  std::string_view nearest;
  std::size_t smallest = name.size() + 1;
  for (const std::string& candidate : known) {
    const std::size_t shorter = std::min(name.size(), candidate.size());
    const std::size_t longer = std::max(name.size(), candidate.size());
    const std::size_t most = std::max<std::size_t>(1, longer / 3);
    if (longer - shorter > most) continue;  // no distance is smaller than that
    const std::size_t distance = edit_distance(name, candidate, rows);
    const bool near = distance <= most && distance < longer;
    if (near && distance < smallest) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return std::string(nearest);
}

Error unknown_name(std::string_view kind, std::string_view name,
                   const std::vector<std::string>& known) {
  std::string what = text("unknown ", kind, " '", name, "'");
  const std::string nearest = nearest_name(name, known);
  if (!nearest.empty()) what += text("; did you mean '", nearest, "'?");
  return Error(what,
               known.empty() ? "there is none to choose" : text("known: ", join(known, ", ")));
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

}  // namespace headlab
