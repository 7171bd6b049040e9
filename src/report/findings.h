// What commands write and print, in one table: files of runs and sweeps, and results that are shown
// alone. Lists, `explain` and the page read it.
// Read next: base/table.h.
#pragma once

#include <span>
#include <string>

#include "headlab/base/table.h"

namespace headlab {

struct FindingEntry {
  const char* name;          // of the file, or of the command that shows it
  const char* meaning;       // what it holds
  const char* command = "";  // that makes it of a run, RUN being its place
  const char* views = "";    // of the page, that show it
  /// The finding of an empty report, whose tables have their columns; null: none, or not as tables.
  Finding (*shape)() = nullptr;
  const char* keys = "";  // of its JSON, besides those that the shape has

  bool is_file() const { return std::string_view(name).find('.') != std::string_view::npos; }
};
std::span<const FindingEntry> finding_table();

/// The keys of its JSON, nested ones behind their table: "examples heads(layer head loss)".
std::string keys_of(const FindingEntry& entry);
/// Every column of every table, once for each title and meaning.
std::vector<Column> all_columns();

}  // namespace headlab
