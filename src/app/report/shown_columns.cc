// Selection of the columns and rows of a table for display, and the type of text in their cells.
// Columns without any value are left out, and so are rows beyond the maximum of a table that has
// one. Read next: text_table.cc, latex.cc, html_table.cc, which lay them out.
#include "app/report/shown_columns.h"

#include <algorithm>
#include <cmath>

#include "app/report/cell_text.h"

namespace headlab {
namespace {

/// Returns whether a cell is a text or a list of texts.
bool is_word(const Json& value) {
  const bool is_list = value.is_array() && !value.items().empty();
  return value.is_string() || (is_list && value.items()[0].is_string());
}

bool is_text(const Column& column, const std::vector<TableRow>& rows, std::size_t c) {
  return std::ranges::any_of(rows, [&](const Json::Array& row) {
    const Json& value = main_value(column, row[c]);
    const bool is_list = value.is_array() && column.cell != CellKind::head;
    return value.is_string() || value.is_bool() || is_list;
  });
}

/// Returns whether a column can name a row: texts, heads and whole numbers, not measured values.
bool names_rows(const Column& column, const std::vector<TableRow>& rows, std::size_t c) {
  return std::ranges::all_of(rows, [&](const Json::Array& row) {
    const Json& cell = row[c];
    if (column.cell == CellKind::head || cell.is_string() || is_blank(cell)) {
      return true;
    }
    return cell.is_number() && cell.number() == std::floor(cell.number());
  });
}

/// Returns the size of the number in a cell, by which rows are sorted; -1 if it has none.
double size_of(const Json& cell) {
  const Json& number = cell.is_array() ? cell.items().at(0) : cell;
  return number.is_number() ? std::abs(number.number()) : -1;
}

std::vector<TableRow> shown_rows(const Table& table) {
  std::vector<TableRow> rows = table.rows;
  if (table.most == 0) {
    return rows;
  }
  if (!table.by.empty()) {
    const std::size_t by = table.index_of(table.by);
    const auto size = [by](const Json::Array& row) { return size_of(row[by]); };
    std::ranges::stable_sort(rows, std::greater<>(), size);
  }
  rows.resize(std::min(rows.size(), table.most));
  return rows;
}

}  // namespace

bool is_hidden(const Table& table, std::size_t c) {
  if (table.columns[c].is_hidden()) {
    return true;
  }
  const auto is_empty = [c](const Json::Array& row) {
    return is_blank(row[c]) || row[c] == Json("");
  };
  return !table.rows.empty() && std::ranges::all_of(table.rows, is_empty);
}

std::vector<ShownColumn> shown_columns(const Table& table) {
  const std::vector<TableRow> rows = shown_rows(table);
  std::vector<ShownColumn> columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (is_hidden(table, c)) {
      continue;
    }
    const Column& column = table.columns[c];
    ShownColumn& shown = columns.emplace_back();
    shown.title = column.title;
    shown.is_text = is_text(column, rows, c);
    const bool is_number = !shown.is_text && column.cell != CellKind::head;
    shown.is_numeric = column.is_interval() || is_number;
    shown.names_rows = names_rows(column, rows, c);
    for (const TableRow& row : rows) {
      shown.tones.push_back(row.tone(c));
      shown.cells.push_back(cell_text(column, row[c]));
      shown.words.push_back(is_word(main_value(column, row[c])));
    }
  }
  return columns;
}

}  // namespace headlab
