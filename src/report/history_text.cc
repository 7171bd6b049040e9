// The history of heads as two tables. Steps are thinned out to what a terminal holds: always the
// first and the last, and evenly spaced ones between. Read next: heads_text.cc, the present beside
// this past.
#include "headlab/report/history_text.h"

#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

constexpr std::size_t kSparkWidth = 40, kTableRows = 12;

/// At most `wanted` of the places 0 ... count - 1, evenly spaced, both ends among them.
std::vector<std::size_t> thinned(std::size_t count, std::size_t wanted) {
  std::vector<std::size_t> places;
  const std::size_t shown = std::min(count, wanted);
  for (std::size_t i = 0; i < shown; ++i)
    places.push_back(shown < 2 ? count - 1 : i * (count - 1) / (shown - 1));
  return places;
}

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t width) {
  constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string line;
  for (const std::size_t place : thinned(values.size(), width)) {
    const double value = std::clamp(values[place], 0.0, 1.0);
    line += std::isnan(value) ? " " : kBlocks[std::lround(value * 7)];
  }
  return line;
}

std::string history_text(const HeadsHistory& history) {
  Table births({"relation", "head", "born", "lift", "lift over training"});
  std::vector<std::string> header = {"step"};
  for (const RelationHistory& relation : history.relations) {
    births.add({relation.name, head_text(relation.best),
                relation.born < 0 ? "-" : std::to_string(relation.born),
                fixed(relation.lifts.back(), 3), sparkline(relation.lifts, kSparkWidth)});
    header.push_back(relation.name);
  }
  Table steps(header);
  for (const std::size_t place : thinned(history.steps.size(), kTableRows)) {
    std::vector<std::string> row = {std::to_string(history.steps[place])};
    for (const RelationHistory& relation : history.relations)
      row.push_back(fixed(relation.lifts[place], 3));
    steps.add(row);
  }
  return text(births.text(), "\nborn: the first scored step at which the lift of the relation's ",
              "head reaches half of its last value\n\n", steps.text());
}

}  // namespace headlab
