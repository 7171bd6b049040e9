// Benchmarks as tables. A column says how many decimals its numbers have; what could not be
// measured is a dash.
// Read next: table.h, which aligns the cells.
#include "headlab/report/bench_text.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

/// A number as `shown` shows it, a text as it is, and a dash for what could not be measured.
template <class Shown>
std::string cell(const Json& value, const Shown& shown) {
  if (value.is_number()) return shown(value.number());
  return value.is_string() ? value.string() : "-";
}

/// "name value, name value" of plain members; the version and the build stand elsewhere.
std::string about_text(const Json& about) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : about.members())
    if (key != "headlab" && key != "build") parts.push_back(key + " " + cell(value, significant));
  return "\n" + join(parts, ", ") + "\n";
}

}  // namespace

std::string table_text(const BenchTable& bench) {
  Texts table(texts_of(bench.columns, &BenchColumn::heading));
  for (const Json::Array& row : bench.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i)
      cells.push_back(cell(row[i], [digits = bench.columns[i].digits](double value) {
        return digits == kGrouped ? grouped(static_cast<Index>(value))
                                  : fixed(value, std::max(0, digits));
      }));
    table.add(std::move(cells));
  }
  return table.to_string();
}

std::string bench_text(const BenchTable& bench) {
  return table_text(bench) + about_text(bench.about);
}

}  // namespace headlab
