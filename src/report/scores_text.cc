// Tables and a plane of characters. Where two heads would stand on one another, the later moves to
// the next free line: the table below the map has the coordinates.
// Read next: table.h.
#include "headlab/report/scores_text.h"

#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/heads/edits.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

constexpr std::size_t kMapWidth = 72, kMapHeight = 20;

/// "-1 (98%)": where most argmaxes are.
std::string commonest_offset(const HeadScores& head) {
  if (head.offsets.empty()) return "-";
  const HeadScores::Offset& offset = head.offsets.front();
  return text(offset.offset > 0 ? "+" : "", offset.offset, " (", fixed(100 * offset.share, 0),
              "%)");
}

/// As many labels as a cell holds; the JSON has them all.
std::string labels_cell(const std::vector<std::string>& labels) {
  constexpr std::size_t kWidth = 36;
  std::string cell;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string more = (i > 0 ? ", " : "") + labels[i];
    if (display_width(cell) + display_width(more) > kWidth)
      return cell + text(" and ", labels.size() - i, " more");
    cell += more;
  }
  return cell;
}

/// The scores that `chosen` selects, a column for each, behind the names of the heads.
template <class Chosen>
Table scores_table(const HeadsReport& report, Chosen&& chosen) {
  Table table({"head"});
  for (const HeadScores& head : report.heads) table.add({head_text(head)});
  for (std::size_t row = 0; row < score_table().size(); ++row) {
    const auto& [name, meaning, from, column] = score_table()[row];
    if (!chosen(from)) continue;
    std::vector<std::string> cells;
    for (const HeadScores& head : report.heads) {
      const double value = head.values[row];
      cells.push_back(column.percent ? fixed(100 * value, column.decimals) + "%"
                                     : fixed(value, column.decimals));
    }
    table.add_column(column.title != nullptr ? column.title : name, cells);
  }
  return table;
}

std::string patterns_table(const HeadsReport& report) {
  return scores_table(report, [](const ScoreSource& from) { return from.wants != nullptr; }).text();
}

std::string shapes_table(const HeadsReport& report) {
  std::vector<std::string> offsets, labels;
  for (const HeadScores& head : report.heads) {
    offsets.push_back(commonest_offset(head));
    labels.push_back(labels_cell(head.labels));
  }
  Table table = scores_table(report, [](const ScoreSource& from) { return from.value != nullptr; });
  table.add_column("argmax offset", offsets);
  table.add_column("labels", labels);
  return table.text();
}

/// The heads of one kind of attention: those whose distance to `first` is defined.
std::vector<std::size_t> comparable_with(const HeadsReport& report, std::size_t first) {
  std::vector<std::size_t> members;
  for (std::size_t h = 0; h < report.heads.size(); ++h)
    if (std::isfinite(report.distances[first * report.heads.size() + h])) members.push_back(h);
  return members;
}

/// Heads on a plane of characters, one scale for both axes (a character is twice as high as wide).
std::string plane(const HeadsReport& report, const std::vector<std::size_t>& members) {
  double extent = 1e-9;
  for (const std::size_t h : members) {
    const auto& [x, y] = report.heads[h].map;
    extent = std::max({extent, std::abs(x) * 2 * kMapHeight / kMapWidth, std::abs(y)});
  }
  std::vector<std::string> lines(kMapHeight + 1, std::string(kMapWidth + 8, ' '));
  const double half = static_cast<double>(kMapHeight) / 2;
  for (const std::size_t h : members) {
    const auto& [x, y] = report.heads[h].map;
    const std::string name = head_text(report.heads[h]);
    const auto column = static_cast<std::size_t>(
        std::lround(static_cast<double>(kMapWidth) / 2 + x / extent * 2 * half));
    auto line = static_cast<std::size_t>(std::lround(half - y / extent * half));
    for (std::size_t tries = 0; tries < lines.size(); ++tries, line = (line + 1) % lines.size())
      if (lines[line].substr(column, name.size()).find_first_not_of(' ') == std::string::npos)
        break;
    lines[line].replace(column, name.size(), name);
  }
  std::string out;
  for (const std::string& line : lines) out += "  │" + trimmed_line(line);
  return out;
}

std::string places_table(const HeadsReport& report, const std::vector<std::size_t>& members) {
  Table table({"head", "x", "y", "nearest", "distance"});
  for (const std::size_t h : members) {
    const double* distances = report.distances.data() + h * report.heads.size();
    std::size_t nearest = h;
    for (const std::size_t other : members) {
      const bool nearer = nearest == h || distances[other] < distances[nearest];
      nearest = other != h && nearer ? other : nearest;
    }
    const HeadScores& head = report.heads[h];
    table.add({head_text(head), fixed(head.map[0], 3), fixed(head.map[1], 3),
               nearest == h ? "-" : head_text(report.heads[nearest]),
               nearest == h ? "-" : fixed(distances[nearest], 3)});
  }
  return table.text();
}

}  // namespace

std::string scores_text(const HeadsReport& report) {
  return report.distances.empty() ? "" : patterns_table(report) + "\n" + shapes_table(report);
}

std::string map_text(const HeadsReport& report) {
  std::string out;
  std::vector<bool> shown(report.heads.size());
  for (std::size_t first = 0; first < report.heads.size(); ++first) {
    if (shown[first]) continue;
    const std::vector<std::size_t> members = comparable_with(report, first);
    for (const std::size_t h : members) shown[h] = true;
    out += out.empty() ? "" : "\n";
    out +=
        "near each other: heads whose patterns are alike (0 the same, 0.83 nothing in common)\n" +
        plane(report, members) + "\n" + places_table(report, members);
  }
  return out;
}

}  // namespace headlab
