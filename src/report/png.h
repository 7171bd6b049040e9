// PNG (ISO/IEC 15948) of 8-bit RGB, with nothing but the standard library. Each row is stored as
// its difference from the row above, and runs of equal bytes or pixels are folded by deflate with
// its fixed codes: pictures of this program are flat, so that little is gained by more.
// Read next: raster.cc, which draws images.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headlab/kernels/scalar.h"
#include "report/colors.h"

namespace headlab {

struct Image {
  Index width, height;
  std::vector<std::uint8_t> bytes;  // [height, width, 3]

  Image(Index w, Index h) : width(w), height(h), bytes(static_cast<std::size_t>(w * h * 3)) {}
  void set(Index x, Index y, const Rgb& color) {
    for (std::size_t c = 0; c < 3; ++c) bytes[(y * width + x) * 3 + c] = color[c];
  }
};

/// The colour of a value on a map; NaN has the paper's.
Rgb map_color(double value);

/// The file's bytes. `texts` are pairs of a keyword (1 to 79 Latin letters) and its UTF-8 text.
std::string png_bytes(const Image& image,
                      const std::vector<std::pair<std::string, std::string>>& texts);

}  // namespace headlab
