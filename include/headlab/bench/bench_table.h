// A table of measurements, as data: the same columns make its JSON and its text, so that neither
// can show what the other lacks. Read next: benchmarks.h and profile.h, which fill such tables, and
// src/cli/bench.cc, which shows them.
#pragma once

#include <vector>

#include "headlab/base/json.h"
#include "headlab/kernels/scalar.h"

namespace headlab {

struct BenchColumn {
  const char* key;      // in JSON
  const char* heading;  // in the table
  int digits = -1;      // decimals of a number; -1: as it is
};

struct BenchTable {
  Json about = Json::object();  // what was measured, and on what
  std::vector<BenchColumn> columns{};
  std::vector<Json::Array> rows{};  // a value for each column
};
/// `about`, and "rows": an object for each row.
Json to_json(const BenchTable& table);

}  // namespace headlab
