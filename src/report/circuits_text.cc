// Tables and maps of how heads work. Long lists are cut to what stands out: the JSON beside the run
// has all of it.
// Read next: heatmap.h.
#include "headlab/report/circuits_text.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

constexpr std::size_t kShownCompositions = 10;

/// Numbers with two decimals, one behind the other.
std::string list_text(const std::vector<double>& values) {
  std::vector<std::string> cells;
  for (const double value : values) cells.push_back(fixed(value, 2));
  return join(cells, " ");
}

std::vector<std::string> counted(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

}  // namespace

std::string circuits_text(const CircuitsReport& report) {
  Table heads({"head", "matches", "copying", "copies"});
  for (const CircuitSummary& one : report.heads) {
    heads.add({head_text(one.head), fixed(one.matches, 2), list_text(one.copying),
               list_text(one.copies)});
  }
  std::vector<Composition> strongest = report.compositions;
  std::stable_sort(strongest.begin(), strongest.end(),
                   [](const auto& a, const auto& b) { return a.strength > b.strength; });
  strongest.resize(std::min(strongest.size(), kShownCompositions));
  Table pairs({"from", "to", "reads by", "strength", "random pairs", "percentile"});
  for (const Composition& one : strongest) {
    const char* kind = one.kind == 'Q' ? "queries" : one.kind == 'K' ? "keys" : "values";
    pairs.add({head_text(one.from), head_text(one.to), kind, fixed(one.strength, 3),
               fixed(one.random, 3), fixed(one.percentile, 1)});
  }
  const std::string note =
      "matches: share of tokens that score highest for themselves; copying: sum of eigenvalues / "
      "sum of\ntheir sizes, from -1 to 1; copies: share of tokens that raise themselves most (both "
      "by target)\n\n";
  return note + heads.text() +
         (strongest.empty() ? "" : "\nthe strongest compositions\n\n" + pairs.text());
}

std::string token_matrix_text(const Tensor& matrix, const std::vector<std::string>& names, Index k,
                              const HeatmapOptions& options) {
  const auto V = static_cast<Index>(names.size()), W = matrix.size(1);
  require(matrix.size(0) == V && W % V == 0 && k >= 0 && k < W / V, "a matrix ", matrix.shape(),
          " has no block ", k, " over ", V, " tokens");
  std::vector<Scalar> shades;
  for (Index i = 0; i < V; ++i) {
    const Scalar* row = matrix.data() + i * W + k * V;
    const Scalar largest = *std::max_element(row, row + V);
    for (Index j = 0; j < V; ++j)
      shades.push_back(largest > 0 ? std::max(Scalar{0}, row[j] / largest) : 0);
  }
  return heatmap(shades, names, names, options);
}

std::string attribution_text(const AttributionReport& report) {
  std::vector<std::string> header = {"part"};
  header.insert(header.end(), report.targets.begin(), report.targets.end());
  Table table(header);
  const auto add = [&](const std::string& name, const std::vector<double>& values) {
    std::vector<std::string> row = {name};
    for (const double value : values) row.push_back(fixed(value, 3));
    table.add(row);
  };
  for (std::size_t p = 0; p < report.parts.size(); ++p) add(report.parts[p], report.shares[p]);
  add("sum", report.logits);
  return "mean share of the right answer's logit above the mean logit, by target\n\n" +
         table.text();
}

std::string patching_text(const PatchReport& report, const HeatmapOptions& options) {
  Table table({"head", "restored"});
  for (const PatchReport::Head& one : report.heads)
    table.add({head_text(one.head), fixed(100 * one.restored, 1) + "%"});
  std::vector<Scalar> shades;
  std::size_t positions = 0;
  for (const auto& row : report.residual) positions = std::max(positions, row.size());
  for (const auto& row : report.residual) {
    for (const double restored : row)
      shades.push_back(static_cast<Scalar>(std::max(0.0, restored)));
    shades.resize(shades.size() + positions - row.size());
  }
  return text("mean logit difference: clean ", fixed(report.clean, 2), ", corrupted ",
              fixed(report.corrupted, 2), "\n\n") +
         table.text() +
         "\nthe residual stream: a row for each place (before each block, and after the last), a "
         "column for\neach position; 1.00 restores everything\n\n" +
         heatmap(shades, counted(report.residual.size()), counted(positions), options);
}

}  // namespace headlab
