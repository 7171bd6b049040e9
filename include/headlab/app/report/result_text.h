// Results as text for a terminal, CSV, LaTeX and HTML. All writers start from the tables of a
// result and the descriptions of their columns, so a new analysis needs no code here. Read next:
// lab/results/table.h.
#pragma once

#include <string>

#include "headlab/app/report/heatmap.h"
#include "headlab/app/report/toned_text.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Whether the meanings of columns follow a table, one column a line.
enum class Legend { lines, none };
/// Returns a result's tables with their notes and the meanings of their columns, then its figures.
std::string text_of(const Result& result, const HeatmapOptions& options = {.width = 80},
                    Legend legend = Legend::lines);
/// Returns a table in lines of at most `width` columns. Columns that do not fit are placed in
/// blocks one below another, each starting with the columns that name a row, and long words of a
/// last column are folded.
std::string text_of(const Table& table, std::size_t width = 80);
/// Return the same texts with the tones of the cells.
TonedText toned_text_of(const Result& result, const HeatmapOptions& options = {.width = 80},
                        Legend legend = Legend::lines);
TonedText toned_text_of(const Table& table, std::size_t width = 80);
/// Returns the table as CSV (RFC 4180), for programs: a line for each row, numbers in full, an
/// interval and a head in columns of their own; columns of lists are separate tables. Words stay as
/// they are: a spreadsheet may read one that begins with = + - @ as a formula.
std::string csv_of(const Table& table);
/// Returns the names of a column in CSV: for an interval the value, its low and its high end.
std::vector<std::string> csv_names(const Column& column);
/// Returns the tables, and after each, as TABLE.COLUMN, those of its columns whose cells are lists.
std::vector<Table> with_lists(const std::vector<Table>& tables);
/// Returns a tabular for the package booktabs: numbers in math mode and right-aligned, texts
/// escaped.
std::string latex_of(const Table& table);
/// Returns an HTML table with the title as its caption; the first cell of each row names it.
std::string html_of(const Table& table);

}  // namespace headlab
