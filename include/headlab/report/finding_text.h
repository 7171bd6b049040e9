// Findings for people and for other programs: text for a terminal, CSV, LaTeX. A new analysis needs
// nothing here: its columns say all.
// Read next: base/table.h.
#pragma once

#include <string>

#include "headlab/base/table.h"
#include "headlab/report/heatmap.h"

namespace headlab {

/// A finding's tables with their notes and what their columns mean, then its figures.
std::string text_of(const Finding& finding, const HeatmapOptions& options = {.width = 80});
/// A table in lines of at most `width`: what does not fit stands in blocks below one another, each
/// begun with the columns that name a row, and long words of a last column are folded.
std::string text_of(const Table& table, std::size_t width = 80);
/// RFC 4180, for programs: a line for each row, numbers in full, an interval and a head in columns
/// of their own; columns of lists are tables of their own. A text that a spreadsheet would compute
/// (it begins with = + - @) begins with '.
std::string csv_of(const Table& table);
/// The names of a column in CSV: of an interval the value, its low and its high end.
std::vector<std::string> csv_names(const Column& column);
/// The tables, and after each, as TABLE.COLUMN, those of its columns whose cells are lists.
std::vector<Table> with_lists(const std::vector<Table>& tables);
/// A tabular for the package booktabs: numbers in math mode and to the right, texts escaped.
std::string latex_of(const Table& table);
/// An HTML table with the title as its caption; the first cell of each row names it.
std::string html_of(const Table& table);

}  // namespace headlab
