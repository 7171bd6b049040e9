// The result of a command as data: tables of values, and what they describe. Terminal text with a
// legend, CSV, LaTeX, JSON, `explain WORD`, `list columns` and the page's tables are all derived
// from it. Each report has a function `Result result_of(const Report&)` that names the columns
// and adds the rows; for an empty report it returns the columns alone, so that lists need not run
// anything. src/RECIPES.md adds an analysis. Read next: app/report/result_text.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headlab/lab/results/members.h"

namespace headlab {

enum class CellKind {
  plain,       // a number, a text, a truth value ("*" or blank) or a list of these
  interval,    // a value, the low and the high end of its interval: 0.94 (0.88 to 1)
  half_width,  // a value and half the width of its interval: 0.94 ± 0.03
  head,        // the attention layer and the number of a head: 0.2
  heads,       // a list of heads: 0.2 1.0
  marked,      // a value and whether it is marked: 0.97*
  sparkline    // a list of numbers from 0 to 1, shown as blocks of their heights
};

/// Format of the numbers of a column in text.
enum class Form {
  automatic,      // 4 significant digits, whole numbers in full
  fixed,          // with `digits` decimals
  percent,        // a share times 100, with `digits` decimals
  signed_number,  // as automatic, with a sign: +0.5
  grouped,        // 12,345
  p_value,        // as automatic; "< 1e-6" for kLeastP and below, "< 0.01" for a floor
  hidden          // not shown: the column is in JSON and CSV only
};

/// A column of a table. Most columns are declared as {key, title, meaning} and then refined:
///
///   Column("truth", "cost", "rise of the loss, nats")
///       .of(CellKind::interval, {"truth.change", "truth.low", "truth.high"})
///       .shown_as(Form::signed_number)
struct Column {
  std::string key;  // its name, unique in the table: used in lookups and, with _ for each dot, in
                    // CSV
  /// The paths of the cell's values in a row of JSON: names and array indices, joined by dots.
  /// A cell with one path is the value there, a cell with several an array of their values.
  std::vector<std::string> paths{};
  std::string title;    // heading in text
  std::string meaning;  // meaning, and which values are good
  CellKind cell = CellKind::plain;
  Form form = Form::automatic;
  int digits = 0;         // decimals of Form::fixed and Form::percent
  bool in_legend = true;  // whether the legend below the table explains the column
  std::string csv{};      // its name in CSV; "": the key
  /// For a mean: the key of the column with the number of values that it averages. Where that is 0,
  /// nothing was measured and the cell is blank.
  std::string over{};
  /// For Form::p_value: the p-values that are the smallest that the number of draws allows. Text
  /// shows them as a bound, "< 0.01"; JSON and CSV have the number.
  std::vector<double> floors{};

  Column() = default;
  /// Creates a plain column whose value is at the path `key`.
  Column(std::string key, std::string title, std::string meaning = "");

  /// Returns the same column with cells of another kind, and with their paths unless the only path
  /// is the key.
  Column of(CellKind kind) const;
  Column of(CellKind kind, std::vector<std::string> value_paths) const;
  Column shown_as(Form how) const;
  Column fixed(int decimals) const;
  Column percent(int decimals) const;
  Column hidden() const { return shown_as(Form::hidden); }
  Column hidden_unless(bool shown) const { return shown ? *this : hidden(); }
  /// Returns the same column, described as a mean over as many values as column `count` states.
  Column mean_over(const std::string& count) const;
  /// Returns the same column, omitted from the legend because its title is self-explanatory.
  Column no_legend() const;

  bool is_hidden() const { return form == Form::hidden; }
  bool is_interval() const { return cell == CellKind::interval || cell == CellKind::half_width; }
};

/// Returns a column for a mean with its interval: the members `mean`, `low` and `high` of the
/// object at `key`.
Column interval_column(const std::string& key, const std::string& title,
                       const std::string& meaning = "");
/// Returns a column for element `place` of the array at `array`. Its name in CSV is its title.
Column element_column(const std::string& array, std::size_t place, const std::string& title,
                      const std::string& meaning = "");

/// Return the names of the enums in JSON: "interval", "p_value".
const char* name_of(CellKind cell);
const char* name_of(Form form);
/// Converts to JSON: key, paths, title, meaning, cell, form, digits, legend, csv unless it is the
/// key, over for a mean, and floors if there are any.
Json to_json(const Column& column);
Column column_of(const Json& description);

/// Meaning of words for their reader: conclusions are shown in colours on a terminal, and the
/// command that reproduces a result is folded.
enum class Tone { none, good, bad, open, command };

/// Value of a cell with its tone.
struct Toned {
  Json value;
  Tone tone;

  Toned(Json cell, Tone its_tone = Tone::none) : value(std::move(cell)), tone(its_tone) {}
};

/// A cell for each column: null, a bool, number, text or array.
struct TableRow : Json::Array {
  std::vector<Tone> tones{};  // of the first cells; that of all others is none

  using Json::Array::Array;
  TableRow(Json::Array cells) : Json::Array(std::move(cells)) {}
  void add(Toned cell);
  Tone tone(std::size_t c) const { return c < tones.size() ? tones[c] : Tone::none; }
};

/// The column of a head, LAYER.HEAD.
extern const Column kHeadColumn;

/// A view of a table in text: a row for each value of the column `down`, a column for each value of
/// `across`, and in each cell the value of the column `cell`.
struct Grid {
  std::string title, down, across, cell;
};

struct Table {
  /// Path in JSON and for --table; "": its only row belongs to the result itself.
  std::string name = "";
  std::vector<Column> columns{};
  std::vector<TableRow> rows{};
  std::string title = "";  // a line above it
  std::string note = "";   // below it, besides the meanings of the columns
  /// Maximum number of rows in text, those in which the column `by` is farthest from 0; 0: all, in
  /// order.
  std::size_t most = 0;
  std::string by = "";
  /// Unless empty, JSON combines rows with the same first cell into one object, with the other
  /// cells in its array `inner`.
  std::string inner = "";
  std::vector<Grid> grids{};  // unless empty, text shows these instead of the rows
  bool shown = true;          // whether text shows it; CSV and JSON always do
  /// Objects of a row in JSON that are null if all of their values are: parts that may be missing.
  std::vector<std::string> optional_parts{};
  /// Whether `about` of the result has the rows: a stored struct, of which the columns show a part.
  bool rows_in_about = false;

  /// Returns the index of the column with this key. If there is none, the error lists the keys.
  std::size_t index_of(const std::string& key) const;
  const Column& column(const std::string& key) const { return columns[index_of(key)]; }
  Column& column(const std::string& key) { return columns[index_of(key)]; }
  void append(const std::vector<Column>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
  }
  std::vector<Json> cells(const std::string& key) const;
};

/// Returns whether a cell is null or an array of nulls.
bool is_blank(const Json& cell);
/// Returns the grid as a table, without rows in which all cells are blank.
Table grid_table(const Table& table, const Grid& grid);

/// Numbers as shades: one row for each of `values`, from 0 (blank) to the largest.
struct Figure {
  std::string name;  // its path in JSON
  std::string title;
  std::vector<std::vector<double>> values{};
};

struct Result {
  Json about = Json::object();  // subject and settings of the result, in addition to the tables
  std::vector<Table> tables{};
  std::vector<Figure> figures{};

  /// Returns the table `name`; "" selects the only one. Errors list the names.
  const Table& table(const std::string& name) const;
};

/// The "schema" of results. It increases when a key is renamed, changes its meaning or is dropped.
inline constexpr int kSchema = 3;
/// Error unless the result has this schema.
void check_schema(const Json& result);

/// Converts to JSON: `about`, for each table an object per row, and for each figure its values.
/// "tables" describes the columns, "figures" has the titles. Error for a key to which `about` and a
/// table give different values, unless the table has `rows_in_about`.
Json to_json(const Result& result);
/// Reads the rows of a table with these columns from `json`; missing cells are null. Error unless
/// each row is an object whose cells are of the same kind as those above them.
Table table_of(const Json& json, Table table);
/// Reads a result, the inverse of to_json except for figures. Error if the description or a table
/// has another shape.
Result result_of(const Json& json);

}  // namespace headlab
