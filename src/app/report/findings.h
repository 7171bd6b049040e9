// What commands write and print, in one table: files of runs and sweeps, and results that are shown
// alone. Lists, `explain` and the page read it.
// Read next: base/table.h.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "headlab/base/table.h"

namespace headlab {

/// A key of JSON, with those of the object, or of each object in the array, that it holds.
struct JsonKey {
  std::string name;
  std::vector<JsonKey> nested{};
  std::string same_as{};  // the file or the key that has the same keys in place of `nested`

  /// The key, with nested keys in parentheses: "targets(name loss)".
  std::string text() const;
};

struct FindingEntry {
  std::string name;                  // of the file, or of the command that shows it
  std::string meaning;               // what it holds
  std::string command = "";          // that makes it of a run, RUN being its place
  std::vector<std::string> views{};  // of the page, that show it
  /// The finding of an empty report, whose tables have their columns; null: none, or not as tables.
  Finding (*shape)() = nullptr;
  std::vector<JsonKey> keys{};  // of its JSON, besides those that the shape has

  bool is_file() const { return name.find('.') != std::string::npos; }
};
const std::vector<FindingEntry>& finding_table();

/// The keys of its JSON, nested ones after their table: "examples heads(layer head loss)".
std::string keys_of(const FindingEntry& entry);
/// The glossary of the lessons: a term ("query, q"), and what it means, in a word and exactly.
std::vector<std::array<std::string, 2>> glossary();
/// Every column of every table, once for each title and meaning.
std::vector<Column> all_columns();

}  // namespace headlab
