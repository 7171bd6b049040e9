// Tables as CSV (RFC 4180): a line for each row, numbers in full. A cell of several values fills
// several columns; a column of lists is a separate table, with a line for each element.
// Read next: lab/results/table.h.
#include <algorithm>

#include "app/report/cell_text.h"
#include "headlab/app/report/result_text.h"
#include "headlab/core/base/error.h"

namespace headlab {
namespace {

/// Returns a cell, quoted if necessary. Its words stay as they are: CSV is read by programs, and an
/// apostrophe before -1 would be another word.
std::string escaped_csv(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) {
    return cell;
  }
  std::string quoted = "\"";
  for (const char c : cell) {
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  }
  return quoted + "\"";
}

std::string csv_cell(const Json& cell) {
  if (cell.is_null()) {
    return "";
  }
  return escaped_csv(cell.is_string() ? cell.string() : cell.dump());
}

/// Returns whether a cell of the column is one value or a list, not a fixed number of values.
bool may_be_list(const Column& column) {
  return column.cell == CellKind::plain || column.cell == CellKind::heads ||
         column.cell == CellKind::sparkline;
}

/// Returns whether cells of column c are lists, of any length.
bool is_list(const Table& table, std::size_t c) {
  const auto has_list = [c](const Json::Array& row) { return row[c].is_array(); };
  return may_be_list(table.columns[c]) && std::ranges::any_of(table.rows, has_list);
}

/// Returns the table with a row for each element of the lists in one column.
Table list_table(const Table& table, std::size_t list) {
  Table values = table;
  Column& column = values.columns[list];
  values.name += (table.name.empty() ? "" : ".") + column.key;
  column.cell = column.cell == CellKind::heads ? CellKind::head : CellKind::plain;
  values.rows.clear();
  for (const Json::Array& row : table.rows) {
    if (!row[list].is_array()) {
      continue;
    }
    for (const Json& element : row[list].items()) {
      Json::Array& line = values.rows.emplace_back(row);
      line[list] = element;
    }
  }
  return values;
}

/// Returns the values of a cell, one for each name of its column.
Json::Array csv_values(const Column& column, const Json& cell) {
  if (column.is_interval()) {
    const IntervalCell interval = interval_of(cell);
    return {interval.value, interval.low, interval.high};
  }
  if (may_be_list(column)) {
    return {cell};
  }
  return cell.is_null() ? Json::Array(2) : cell.items();
}

}  // namespace

std::vector<std::string> csv_names(const Column& column) {
  std::string name = column.csv.empty() ? column.key : column.csv;
  std::ranges::replace(name, '.', '_');
  std::ranges::replace(name, ' ', '_');
  if (column.is_interval()) {
    return {name, name + "_low", name + "_high"};
  }
  const bool is_one_value = column.paths.size() == 1;
  if (column.cell == CellKind::head && is_one_value) {
    return {name + "_layer", name + "_head"};
  }
  if (is_one_value) {
    return {name};
  }
  std::vector<std::string> names = column.paths;
  for (std::string& one : names) {
    std::ranges::replace(one, '.', '_');
    std::ranges::replace(one, ' ', '_');
  }
  return names;
}

std::string csv_of(const Table& table) {
  std::vector<std::vector<std::string>> lines(1 + table.rows.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (is_list(table, c)) {
      continue;
    }
    const Column& column = table.columns[c];
    for (const std::string& name : csv_names(column)) {
      lines[0].push_back(escaped_csv(name));
    }
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      for (const Json& value : csv_values(column, table.rows[r][c])) {
        lines[r + 1].push_back(csv_cell(value));
      }
    }
  }
  const auto line_of = [](const std::vector<std::string>& cells) { return join(cells, ","); };
  return join(texts_of(lines, line_of), "\n") + "\n";
}

std::vector<Table> with_lists(const std::vector<Table>& tables) {
  std::vector<Table> all;
  for (const Table& table : tables) {
    all.push_back(table);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (is_list(table, c)) {
        all.push_back(list_table(table, c));
      }
    }
  }
  return all;
}

}  // namespace headlab
