// What a command has found, as data: tables of values and what they are about. Terminal text with a
// legend, CSV, LaTeX, JSON, `explain WORD`, `list columns` and the page's tables all follow from
// it. Beside what computes a report stands `Finding finding_of(const Report&)`, which names the
// columns and adds the rows; of an empty report it has the columns alone, so that lists know them
// without running anything. src/RECIPES.md adds an analysis. Read next: report/finding_text.h.
#pragma once

#include <string>
#include <vector>

#include "headlab/base/members.h"

namespace headlab {

// How the numbers of a column are shown as text: with so many decimals, or
inline constexpr int kPlain = -1;      // 4 significant digits, whole numbers in full
inline constexpr int kSigned = -2;     // the same with a sign
inline constexpr int kChance = -4;     // a p, not told below kLeastP: "< 1e-6"
inline constexpr int kGrouped = 1000;  // 12,345
inline constexpr int kHidden = -3;     // not at all: in JSON and CSV alone

/// A column. Its key is its name in JSON and CSV: "loss", or "gold.loss" for `loss` in the object
/// `gold`, or "shares.0" for the first of the array `shares`. A key of several names spreads a cell
/// that is an array: "layer,head" is a head [0, 2], shown as 0.2; "change,low,high" and
/// "loss.mean,half_width" are an interval, shown as 0.94 ± 0.03 or 0.94 (0.88 to 1), in CSV
/// `change`, `change_low` and `change_high`; "lift,owns" is a number with a mark, 0.97*.
struct Column {
  std::string key;
  std::string title;         // in text
  std::string meaning = "";  // and what is good
  int digits = kPlain;
  /// "%" shows a share in percent, "head" [0, 2] as 0.2, "heads" many, "line" numbers from 0 to 1
  /// as blocks of their heights.
  std::string unit = "";
  bool told = true;  // whether the legend says what it means

  /// Where the parts of a cell stand in a row of JSON.
  std::vector<std::string> paths() const;
  bool is_interval() const { return key.ends_with(",high") || key.ends_with(",half_width"); }
  bool is_head() const { return key.ends_with("layer,head") || unit == "head"; }
  void members(auto&& f) {
    f("key", key), f("title", title), f("meaning", meaning);
    f("digits", digits), f("unit", unit), f("told", told);
  }
};

/// A column whose meaning the legend leaves out, as it is plain where the column stands.
inline Column untold(std::string key, std::string title, std::string meaning, int digits = kPlain) {
  return {std::move(key), std::move(title), std::move(meaning), digits, "", false};
}

/// The column of a head, LAYER.HEAD.
extern const Column kHeadColumn;

/// A view of a table in text: a row for each value of the column `down`, a column for each value of
/// `across`, and where they meet what the column `cell` holds there.
struct Grid {
  std::string title, down, across, cell;
};

struct Table {
  /// Its path in JSON, and for --table; "": its only row belongs to the finding itself.
  std::string name = "";
  std::vector<Column> columns{};
  std::vector<Json::Array> rows{};  // a cell for each column: null, a bool, number, text or array
  std::string title = "";           // a line above it
  std::string note = "";            // below it, besides the meanings of the columns
  /// Text shows the `most` rows in which the column `by` is farthest from 0; 0: all, in order.
  std::size_t most = 0;
  std::string by = "";
  /// Unless empty, JSON holds rows of the same first cell as one object, in whose array `inner` the
  /// other cells stand.
  std::string inner = "";
  std::vector<Grid> grids{};  // unless empty, text shows these in place of the rows
  bool shown = true;          // false: text does not show it, for it is long; CSV and JSON do

  /// Error unless there is a column of this key.
  const Column& column(const std::string& key) const;
  /// The cells of a column from top to bottom.
  std::vector<Json> cells(const std::string& key) const;
};

/// Null, or an array of nulls.
bool is_blank(const Json& cell);
/// The grid as a table; without rows where all its cells are blank.
Table grid_table(const Table& table, const Grid& grid);

/// Numbers as shades: a row for each of `values`, from 0 (blank) to the largest.
struct Figure {
  std::string name;  // its path in JSON
  std::string title;
  std::vector<std::vector<double>> values{};
};

struct Finding {
  Json about = Json::object();  // what was found of what, besides the tables
  std::vector<Table> tables{};
  std::vector<Figure> figures{};

  /// Error that lists the names unless there is a table `name`; "" names the only one.
  const Table& table(const std::string& name) const;
};

/// The "schema" of findings, which grows where a key gets another meaning or goes: older ones are
/// read as before.
inline constexpr int kSchema = 1;
/// Error for a finding of a later schema.
void check_schema(const Json& finding);

/// `about`, under the name of each table an object for each row, and of each figure its values.
/// "tables" describes the columns, "figures" has the titles.
Json to_json(const Finding& finding);
/// The rows that `json` holds of a table with these columns; cells that it lacks are null. Error
/// unless each row is an object whose cells are of the same kind as those above them.
Table table_of(const Json& json, Table table);
/// The inverse of to_json, but for figures. Error if the description or a table has another shape.
Finding finding_of(const Json& json);

}  // namespace headlab
