// Benchmarks as tables. A column says how many decimals its
// numbers have; what could not be measured is a dash. Read
// next: table.h, which aligns the cells.
#include "headlab/report/bench_text.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

std::string cell(const Json& value, int digits) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.string();
  return fixed(value.number(), std::max(0, digits));
}

/// "name value, name value" of plain members.
std::string about_text(const Json& about) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : about.members())
    if (key != "headlab")
      parts.push_back(key + " " +
                      (value.is_string() ? value.string() : significant(value.number())));
  return "\n" + join(parts, ", ") + "\n";
}

}  // namespace

std::string table_text(const BenchTable& bench) {
  std::vector<std::string> header;
  for (const BenchColumn& column : bench.columns) header.emplace_back(column.heading);
  Table table(header);
  for (const Json::Array& row : bench.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i)
      cells.push_back(cell(row[i], bench.columns[i].digits));
    table.add(std::move(cells));
  }
  return table.text();
}

std::string bench_text(const BenchTable& bench) {
  return table_text(bench) + about_text(bench.about);
}

std::string bench_text(const BenchResult& result) {
  Table table({"config", "threads", "median ms", "min ms", "tokens/s", "GFLOP/s", "peak GFLOP/s",
               "share of peak", "triad GB/s", "memory MB"});
  table.add({result.config, std::to_string(result.threads), fixed(result.median_ms, 2),
             fixed(result.min_ms, 2), grouped(static_cast<Index>(result.tokens_per_s)),
             fixed(result.gflops, 1), fixed(result.peak_gflops, 1),
             fixed(result.fraction_of_peak, 3), fixed(result.triad_gbs, 1),
             fixed(result.peak_memory_mb, 0)});
  return table.text() + about_text(result.about);
}

}  // namespace headlab
