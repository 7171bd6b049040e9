// Benchmarks as text: a table of measurements by its columns, a training step, and what either was
// measured on. The columns are those of the JSON, so neither can show what the other lacks. Read
// next: bench/bench.h.
#pragma once

#include <string>

#include "headlab/bench/bench.h"

namespace headlab {

std::string table_text(const BenchTable& bench);
/// With what it was measured on, a line behind the table.
std::string bench_text(const BenchTable& bench);

}  // namespace headlab
