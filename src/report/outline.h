// The corners of areas and lines, which both writers of pictures go through: svg.cc as paths,
// raster.cc as polygons. A circle has none: each draws it as what it is.
// Read next: svg.cc.
#pragma once

#include <vector>

#include "headlab/report/picture.h"

namespace headlab {

/// A corner, and whether a new stroke begins there.
struct Corner {
  Point at;
  bool begins = false;
};
std::vector<Corner> outline(const RectItem& rect);
std::vector<Corner> outline(const LineItem& line);
std::vector<Corner> outline(const DotItem& dot);

}  // namespace headlab
