// Functions that both writers of pictures share: numbers, and the corners of areas and lines. A
// circle has no corners: each writer draws it in its own way.
// Read next: svg.cc.
#pragma once

#include <string>
#include <vector>

#include "headlab/app/report/picture.h"

namespace headlab {

/// Returns a number with at most two decimals, and never -0.
std::string drawn_number(double value);

/// Corner, and whether a new stroke begins there.
struct Corner {
  Point at;
  bool begins = false;
};
std::vector<Corner> outline(const RectItem& rect);
std::vector<Corner> outline(const LineItem& line);
std::vector<Corner> outline(const DotItem& dot);

}  // namespace headlab
