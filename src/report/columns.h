// What the columns of the program's tables mean, in one place: for the lines below each table, and
// for whoever asks. Scores of heads have their meaning in score_table(), tasks and pruning methods
// in their tables. Read next: table.h.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace headlab {

struct ColumnEntry {
  const char* name;
  const char* meaning;  // with the unit, and what is good
};
/// Every column with a title of its own; those that are named after relations, tasks, methods or
/// sizes have none.
std::span<const ColumnEntry> column_table();

/// At most two lines to stand under a table: what to read in it, in which unit, and what is good.
/// Error for a table that has none.
std::string legend(std::string_view table);

}  // namespace headlab
