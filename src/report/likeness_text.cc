// How far the heads of a model are from known patterns: a line for each head, and as a measure for
// all of them how far uniform attention is.
// Read next: heads_text.cc.
#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "headlab/report/heads_text.h"
#include "headlab/report/table.h"

namespace headlab {

std::string likeness_text(const LikenessReport& report, std::string_view first) {
  std::vector<HeadLikeness> heads = report.heads;
  std::vector<std::size_t> shown;  // patterns that have a key somewhere
  std::vector<std::string> header = {"head"};
  for (std::size_t p = 0; p < report.patterns.size(); ++p) {
    if (first == report.patterns[p])
      std::ranges::stable_sort(heads, {}, [&](const HeadLikeness& h) {
        return std::isfinite(h.distances[p]) ? h.distances[p] : INFINITY;
      });
    if (std::ranges::none_of(heads, [&](const auto& h) { return std::isfinite(h.distances[p]); }))
      continue;
    shown.push_back(p);
    header.push_back(report.patterns[p]);
  }
  header.emplace_back("most like");
  Texts table(header);
  const auto cells = [&](const std::vector<double>& distances, const std::string& like) {
    std::vector<std::string> row;
    for (const std::size_t p : shown) row.push_back(fixed(distances[p], 3));
    row.push_back(like.empty() ? "-" : like);
    return row;
  };
  for (const HeadLikeness& head : heads)
    table.add(row_of(head_text(head.head), cells(head.distances, head.like)));
  std::vector<std::string> last;  // a row for each kind of attention
  for (const HeadLikeness& head : report.heads) {
    const std::vector<std::string> row = cells(head.of_uniform, "");
    if (row != last) table.add(row_of(text("uniform in ", head.head.layer), row));
    last = row;
  }
  return text(table.to_string(),
              "\nmean Jensen-Shannon distance of rows: 0 the same, 0.833 nothing in common; most "
              "like: nearest\nof those from which the head is less than half as far as uniform "
              "attention is; uniform: below 0.2\n");
}

}  // namespace headlab
