// Text of a cell, determined by the cell and the form of its column: see lab/results/table.h.
// Terminal, LaTeX and HTML show the same texts; CSV has numbers in full and uses the intervals
// only. Read next: shown_columns.h.
#pragma once

#include <string>

#include "headlab/lab/results/table.h"

namespace headlab {

/// Interval in a cell: the value, the low and the high end. Both ends are null if the interval has
/// none, all three if the cell is null.
struct IntervalCell {
  Json value;
  Json low;
  Json high;
};
IntervalCell interval_of(const Json& cell);

/// Returns the cell as text, "-" if it has no value.
std::string cell_text(const Column& column, const Json& cell);

/// Returns the first value of a marked cell, any other cell unchanged.
const Json& main_value(const Column& column, const Json& cell);

}  // namespace headlab
