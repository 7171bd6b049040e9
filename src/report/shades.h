// One cell of a map on a terminal: characters, grays, or half blocks in cividis. Colour is never
// the only mark of gold: a sign stands in the cell, or half of it is as light as the rest is dark.
// Read next: heatmap.cc, which puts cells into lines.
#pragma once

#include <string>

#include "headlab/report/heatmap.h"

namespace headlab {

/// `missed`: gold on which, with the query's other gold, lies less than half of its attention.
enum class GoldMark { none, found, missed };

struct ShadedCell {
  double weight = 0;
  GoldMark mark = GoldMark::none;
};

/// A cell of `width` columns (1 or 2) and one line; `shades` is not cividis.
std::string cell_text(const ShadedCell& cell, std::size_t width, Shades shades);

/// Two cells, one above the other, in half blocks; without `lower` its half stays blank. `width` 1
/// shows no gold.
std::string pair_text(const ShadedCell& upper, const ShadedCell* lower, std::size_t width);

/// How gold is marked in cells of this width, as a sentence with its newline.
std::string gold_legend(std::size_t width, Shades shades);

}  // namespace headlab
