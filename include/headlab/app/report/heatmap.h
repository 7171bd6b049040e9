// Attention patterns as text: destinations (queries) are rows, sources (keys) are columns, and
// darker cells have larger weights. All functions are pure functions of numbers and run no model.
// Read next: src/app/report/heatmap.cc; figures.h, the same as pictures.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlab/core/tensor/tensor.h"

namespace headlab {

struct HeatmapOptions {
  std::size_t width = 100;        // columns of the terminal
  std::span<const char> truth{};  // [T, S]: 1 on ground-truth cells, which are marked; or empty
};

/// Returns whether at least half of a query's attention, its weights on all keys, is on
/// ground-truth keys.
bool is_found(std::span<const Scalar> weights, std::span<const char> truth);

/// Returns weights [T, S] with a token for each row and each column, and "0.87" next to each row:
/// its largest weight. Characters: blank below 1e-6, then · ░ ▒ ▓ █ from 0, .05, .25, .5, .75 on. A
/// cell is two columns wide, or one if two do not fit; if even one does not fit, a cell shows the
/// largest weight of several neighbouring sources, and a line reports this. A line at the end
/// explains the ground-truth marks. Error unless the sizes agree.
std::string heatmap(std::span<const Scalar> weights, const std::vector<std::string>& destinations,
                    const std::vector<std::string>& sources, const HeatmapOptions& options = {});

/// Returns a matrix over the vocabulary as text, each row scaled to its largest element; negative
/// ones are blank. matrix [V, K*N], names of its V rows and of the N columns of a block; shows
/// block `k`.
std::string token_matrix_text(const Tensor& matrix, const std::vector<std::string>& rows,
                              const std::vector<std::string>& columns, Index k,
                              const HeatmapOptions& options = {});

/// A small pattern among others.
struct SmallMap {
  std::string caption;
  Index rows = 0, columns = 0;
  std::span<const Scalar> weights{};   // [rows, columns]; empty: nothing to show
  std::vector<std::string> queries{};  // tokens of the rows; or empty
};
/// Returns patterns side by side, one group below the other, each under its title. If all maps name
/// their queries and have at most 8 of them, or fit on a screen of 80 columns and 24 lines, each
/// query has a line with its token. Otherwise a cell shows the largest weight of several
/// neighbours, and a line reports how many.
std::string small_maps(const std::vector<std::pair<std::string, std::vector<SmallMap>>>& groups);

}  // namespace headlab
