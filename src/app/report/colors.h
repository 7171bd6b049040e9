// Colours as bytes, for the writers of pictures and for terminals. color_of() and map_colors() in
// headlab/app/report/picture.h return them as "#rrggbb".
// Read next: picture.cc, the palette.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace headlab {

/// Red, green, blue.
using Rgb = std::array<std::uint8_t, 3>;

/// Returns the bytes of "#rrggbb" or of a role. Error for anything else.
Rgb rgb_of(std::string_view color);

}  // namespace headlab
