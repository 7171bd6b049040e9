// Tables as golden files show them: a line for each table, then a line for each column, with
// everything that JSON says about it. Rows are left out. Read next: golden_text.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/results/table.h"

namespace headlab {

/// A line of JSON for each column.
inline std::string columns_text(const std::vector<Column>& columns) {
  std::string lines;
  for (const Column& column : columns) {
    lines += "  " + Json(column).dump() + "\n";
  }
  return lines;
}

/// For each table its description without columns, then its columns.
inline std::string columns_text(const Result& result) {
  std::string lines;
  const Json json = result;
  for (const Json& table : json.at("tables").items()) {
    Json description = Json::object();
    std::string columns;
    for (const auto& [key, value] : table.members()) {
      if (key != "columns") {
        description[key] = value;
        continue;
      }
      for (const Json& column : value.items()) {
        columns += "  " + column.dump() + "\n";
      }
    }
    lines += "table " + description.dump() + "\n" + columns;
  }
  return lines;
}

inline std::string columns_text(const Table& table) {
  Result result;
  result.tables.push_back(table);
  return columns_text(result);
}

}  // namespace headlab
