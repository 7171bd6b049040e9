// The cells of a table as text, before they are laid out for a terminal, LaTeX or HTML. All three
// layouts start from these columns, so that they show the same rows and the same words. Read next:
// shown_columns.cc.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/results/table.h"

namespace headlab {

/// Displayed column: its title and a text for each row.
struct ShownColumn {
  std::string title;
  std::vector<std::string> cells;
  std::vector<Tone> tones;  // of the cells
  std::vector<char> words;  // for each cell whether it is a word or a list of words, not a number
  bool is_text = false;     // texts and lists: left-aligned
  bool is_numeric = false;  // numbers and intervals
  bool names_rows = false;  // texts, heads and whole numbers: a row can be named by them
};

/// Returns the columns that are not hidden, with the rows that text shows.
std::vector<ShownColumn> shown_columns(const Table& table);
/// Returns whether text leaves out the column: it is hidden, or no row has a value.
bool is_hidden(const Table& table, std::size_t c);

}  // namespace headlab
