// How far the heads of a model are from known patterns: a line for each head, and as a measure for
// all of them how far uniform attention is.
// Read next: heads/known_patterns.h.
#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "headlab/report/lessons_text.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

std::string distance_text(double distance) {
  return std::isfinite(distance) ? fixed(distance, 3) : "-";
}

}  // namespace

std::string likeness_text(const LikenessReport& report, std::string_view first) {
  const auto patterns = known_patterns();
  std::size_t sorted_by = patterns.size();
  std::vector<std::string> header = {"head"};
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    header.push_back(std::string("to ") + patterns[p].name);
    if (first == patterns[p].name) sorted_by = p;
  }
  header.push_back("most like");
  std::vector<PatternDistances> heads = report.heads;
  if (sorted_by < patterns.size())
    std::ranges::stable_sort(heads, [&](const PatternDistances& a, const PatternDistances& b) {
      return a.distances[sorted_by] < b.distances[sorted_by];
    });
  Texts table(header);
  for (const PatternDistances& head : heads) {
    std::vector<std::string> cells = texts_of(head.distances, distance_text);
    cells.push_back(head.like ? patterns[*head.like].name : "-");
    table.add(row_of(headlab::head_text(head.head), cells));
  }
  std::vector<std::vector<std::string>> shown;  // a row for each kind of attention
  for (const PatternDistances& head : report.heads) {
    std::vector<std::string> last = texts_of(head.of_uniform, distance_text);
    if (std::ranges::find(shown, last) != shown.end()) continue;
    shown.push_back(last);
    last.push_back("-");
    table.add(row_of(text("uniform in ", head.head.layer), last));
  }
  return text(table.to_string(),
              "\nmean Jensen-Shannon distance of rows: 0 the same, 0.833 nothing in common; most "
              "like: nearest\nof those from which the head is less than half as far as uniform "
              "attention is; uniform: below 0.2\n");
}

}  // namespace headlab
