// Everything that commands write and print, in one table: files of runs and sweeps, and results
// that are only shown. Lists, `explain` and the page read it.
// Read next: lab/results/table.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headlab/lab/results/table.h"

namespace headlab {

/// JSON key with the keys of its object, or of each object in its array.
struct JsonKey {
  std::string name;
  std::vector<JsonKey> nested{};

  /// Returns the key, with nested keys in parentheses: "targets(name loss)".
  std::string text() const;
};

struct ResultEntry {
  std::string file{};     // its name, "ablation.json"; "" if the result is only shown
  std::string command{};  // the command that makes it, "ablate"; "" if training does
  std::string flags{};    // with which that command makes it: "--pairs"
  std::string meaning{};  // content
  /// Returns the result of an empty report: its tables and columns. Null if it has no tables.
  Result (*shape)() = nullptr;
  std::vector<std::string> views{};  // views of the page that show it
  std::vector<JsonKey> keys{};       // keys of its JSON in addition to those of the shape
  /// Whether the command stores it in the folder of a run, with its settings and the weights that
  /// it describes.
  bool describes_run = false;

  /// Returns the name of the file, or else of the command: "ablation", "compare".
  std::string name() const;
};
const std::vector<ResultEntry>& result_table();

/// Returns the names of the tables of a command, which --table accepts; nothing if it has none.
std::vector<std::string> tables_of(std::string_view command);

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
