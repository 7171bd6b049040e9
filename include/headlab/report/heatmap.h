// An attention pattern as text: destinations (queries) are rows, sources (keys) are columns, and a
// cell is the darker the larger its weight. Pure functions of the numbers: nothing here runs a
// model.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlab/kernels/scalar.h"

namespace headlab {

struct HeatmapOptions {
  bool color = false;       // shades by the terminal's 256 colours instead of by characters
  std::size_t width = 100;  // columns of the terminal
};

/// weights [T, S] with a token for each row and each column, and "0.87" beside each row: its
/// largest weight. Shades: blank below 1e-6, then · ░ ▒ ▓ █ from 0, .05, .25, .5, .75 on. A cell is
/// two columns wide, or one where that is too wide; where even that is too wide, it shows the
/// largest weight of several neighbouring sources, and a line says so. Error unless the sizes
/// agree.
std::string heatmap(std::span<const Scalar> weights, const std::vector<std::string>& destinations,
                    const std::vector<std::string>& sources, const HeatmapOptions& options = {});

}  // namespace headlab
