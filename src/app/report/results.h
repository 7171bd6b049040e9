// Everything that commands write and print, in one table: files of runs and sweeps, and results
// that are only shown. Lists, `explain` and the page read it.
// Read next: lab/results/table.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/results/table.h"

namespace headlab {

/// JSON key with the keys of its object, or of each object in its array.
struct JsonKey {
  std::string name;
  std::vector<JsonKey> nested{};
  std::string same_as{};  // the file or the key that has the same keys in place of `nested`

  /// Returns the key, with nested keys in parentheses: "targets(name loss)".
  std::string text() const;
};

struct ResultEntry {
  std::string name;                  // name of the file, or of the command that shows it
  std::string meaning;               // content
  std::string command = "";          // that makes it of a run, RUN being its place
  std::vector<std::string> views{};  // views of the page that show it
  /// Returns the result of an empty report, whose tables have their columns; null if there is none,
  /// or not as tables.
  Result (*shape)() = nullptr;
  std::vector<JsonKey> keys{};  // keys of its JSON in addition to those of the shape

  bool is_file() const { return name.find('.') != std::string::npos; }
};
const std::vector<ResultEntry>& result_table();

/// Returns the keys of its JSON, nested ones after their table: "examples heads(layer head loss)".
std::string keys_of(const ResultEntry& entry);
/// A term of the glossary: its names, its short and its exact definition, and a command that shows
/// it, without the program's name; "" if there is none.
struct GlossaryTerm {
  std::vector<std::string> names;
  std::string meaning;
  std::string see;
};
/// Returns the glossary: the terms of src/app/report/page/lessons/lessons.html.
std::vector<GlossaryTerm> glossary();
/// A column, and the results that contain it: "heads", "curve".
struct ListedColumn {
  Column column;
  std::vector<std::string> results{};
};
/// Returns every column of every table, once for each title and meaning.
std::vector<ListedColumn> all_columns();

}  // namespace headlab
