// The cells of a table as text, before they are laid out for a terminal, LaTeX or HTML. All three
// layouts start from these columns, so that they show the same rows and the same words. Read next:
// finding_text.cc.
#pragma once

#include <string>
#include <vector>

#include "headlab/base/table.h"

namespace headlab {

/// A column that is shown: its title, a text for each row, and whether these are numbers.
struct ShownColumn {
  std::string title;
  std::vector<std::string> cells;
  bool numeric = false;
};

/// The columns that are not hidden, with the rows that text shows.
std::vector<ShownColumn> shown_columns(const Table& table);

}  // namespace headlab
