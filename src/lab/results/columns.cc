// Columns of tables: how they are declared, and their descriptions in JSON. Results of schema 1
// described a column by a key that joined the names of its values ("gold.change,low,high"), by
// numbers for the form (-2: signed) and by a unit; those descriptions are translated here, so that
// no other code knows them.
// Read next: table.cc.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/table.h"

namespace headlab {
namespace {

template <class Enum>
struct EnumName {
  Enum value;
  const char* name;
};

constexpr std::array<EnumName<CellKind>, 7> kCells = {{{CellKind::plain, "plain"},
                                                       {CellKind::interval, "interval"},
                                                       {CellKind::half_width, "half_width"},
                                                       {CellKind::head, "head"},
                                                       {CellKind::heads, "heads"},
                                                       {CellKind::marked, "marked"},
                                                       {CellKind::sparkline, "sparkline"}}};

constexpr std::array<EnumName<Form>, 7> kForms = {{{Form::automatic, "automatic"},
                                                   {Form::fixed, "fixed"},
                                                   {Form::percent, "percent"},
                                                   {Form::signed_number, "signed"},
                                                   {Form::grouped, "grouped"},
                                                   {Form::p_value, "p_value"},
                                                   {Form::hidden, "hidden"}}};

/// Returns "gold." of "gold.change"; "" if there is no dot.
std::string prefix_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == path.npos ? "" : path.substr(0, dot + 1);
}

/// Schema 1: returns the paths that a key such as "gold.change,low,high" abbreviates.
std::vector<std::string> joined_paths(const std::string& key) {
  const std::string prefix = prefix_of(key.substr(0, key.find(',')));
  std::vector<std::string> paths;
  for (const std::string_view name : split(std::string_view(key).substr(prefix.size()), ',')) {
    paths.push_back(prefix + std::string(name));
  }
  return paths;
}

/// Returns whether the only path ends with a place in an array: "shares.0".
bool is_element(const std::vector<std::string>& paths) {
  const std::size_t dot = paths[0].rfind('.');
  return paths.size() == 1 && dot != std::string::npos &&
         paths[0].find_first_not_of("0123456789", dot + 1) == std::string::npos;
}

/// Schema 1: the kind of cell that the end of a key or the unit implied.
CellKind implied_cell(const std::string& key, const std::string& unit) {
  if (unit == "head" || key.ends_with("layer,head")) {
    return CellKind::head;
  }
  if (unit == "heads") {
    return CellKind::heads;
  }
  if (unit == "line") {
    return CellKind::sparkline;
  }
  if (key.ends_with(",high")) {
    return CellKind::interval;
  }
  if (key.ends_with(",half_width")) {
    return CellKind::half_width;
  }
  return key.find(',') == key.npos ? CellKind::plain : CellKind::marked;
}

/// Schema 1: returns the form that a number of digits and the unit imply.
Form implied_form(std::int64_t digits, const std::string& unit) {
  constexpr std::int64_t kAutomatic = -1;
  constexpr std::int64_t kSigned = -2;
  constexpr std::int64_t kHidden = -3;
  constexpr std::int64_t kPValue = -4;
  constexpr std::int64_t kGrouped = 1000;
  if (digits == kHidden) {
    return Form::hidden;
  }
  if (unit == "%") {
    return Form::percent;
  }
  switch (digits) {
    case kAutomatic:
      return Form::automatic;
    case kSigned:
      return Form::signed_number;
    case kPValue:
      return Form::p_value;
    case kGrouped:
      return Form::grouped;
    default:
      return Form::fixed;
  }
}

/// Schema 1: the name of a column, without the names of its values.
std::string implied_key(const Column& column) {
  if (column.paths.size() == 1) {
    return column.paths[0];
  }
  const std::string prefix = prefix_of(column.paths[0]);
  if (column.cell == CellKind::head) {
    return prefix.empty() ? "head" : prefix.substr(0, prefix.size() - 1);
  }
  const bool names_object = column.is_interval() && !prefix.empty();
  return names_object ? prefix.substr(0, prefix.size() - 1) : column.paths[0];
}

Column column_of_schema_1(const Json& description) {
  const auto text_at = [&](const char* name) {
    const Json* found = description.find(name);
    return found == nullptr ? std::string() : found->string();
  };
  const Json* digits = description.find("digits");
  const Json* told = description.find("told");
  const std::string joined = description.at("key").string();
  const std::string unit = text_at("unit");
  Column column(joined, text_at("title"), text_at("meaning"));
  column.paths = joined_paths(joined);
  column.cell = implied_cell(joined, unit);
  column.key = implied_key(column);
  if (is_element(column.paths)) {
    column.csv = column.title;
  }
  column.form = implied_form(digits == nullptr ? -1 : digits->integer(), unit);
  if (column.form == Form::fixed || column.form == Form::percent) {
    column.digits = static_cast<int>(std::max<std::int64_t>(0, digits->integer()));
  }
  column.in_legend = told == nullptr || told->boolean();
  return column;
}

}  // namespace

const Column kHeadColumn =
    Column("head", "head",
           "LAYER.HEAD: attention layer and original index of the head, both from 0")
        .of(CellKind::head, {"layer", "head"})
        .no_legend();

Column::Column(std::string own_key, std::string own_title, std::string own_meaning)
    : key(std::move(own_key)),
      paths{key},
      title(std::move(own_title)),
      meaning(std::move(own_meaning)) {}

Column Column::of(CellKind kind) const {
  Column changed = *this;
  changed.cell = kind;
  return changed;
}

Column Column::of(CellKind kind, std::vector<std::string> value_paths) const {
  Column changed = of(kind);
  changed.paths = std::move(value_paths);
  return changed;
}

Column Column::shown_as(Form how) const {
  Column changed = *this;
  changed.form = how;
  return changed;
}

Column Column::fixed(int decimals) const {
  Column changed = shown_as(Form::fixed);
  changed.digits = decimals;
  return changed;
}

Column Column::percent(int decimals) const {
  Column changed = shown_as(Form::percent);
  changed.digits = decimals;
  return changed;
}

Column Column::mean_over(const std::string& count) const {
  Column changed = *this;
  changed.over = count;
  return changed;
}

Column Column::no_legend() const {
  Column changed = *this;
  changed.in_legend = false;
  return changed;
}

Column interval_column(const std::string& key, const std::string& title,
                       const std::string& meaning) {
  return Column(key, title, meaning)
      .of(CellKind::interval, {key + ".mean", key + ".low", key + ".high"});
}

Column element_column(const std::string& array, std::size_t place, const std::string& title,
                      const std::string& meaning) {
  Column column(text(array, ".", place), title, meaning);
  column.csv = title;
  return column;
}

const char* name_of(CellKind cell) {
  return std::ranges::find(kCells, cell, &EnumName<CellKind>::value)->name;
}

const char* name_of(Form form) {
  return std::ranges::find(kForms, form, &EnumName<Form>::value)->name;
}

Json to_json(const Column& column) {
  Json json = Json::object({{"key", column.key},
                            {"paths", column.paths},
                            {"title", column.title},
                            {"meaning", column.meaning},
                            {"cell", name_of(column.cell)},
                            {"form", name_of(column.form)},
                            {"digits", column.digits},
                            {"legend", column.in_legend}});
  if (!column.csv.empty()) {
    json["csv"] = column.csv;
  }
  if (!column.over.empty()) {
    json["over"] = column.over;
  }
  return json;
}

Column column_of(const Json& description) {
  if (description.find("cell") == nullptr) {
    return column_of_schema_1(description);
  }
  Column column(description.at("key").string(), description.at("title").string(),
                description.at("meaning").string());
  column.paths = read_as<std::vector<std::string>>(description.at("paths"));
  require(!column.paths.empty(), "cannot read column ", column.key, ": \"paths\" is empty");
  column.cell =
      named("cell", description.at("cell").string(), kCells, &EnumName<CellKind>::name).value;
  column.form = named("form", description.at("form").string(), kForms, &EnumName<Form>::name).value;
  column.digits = read_as<int>(description.at("digits"));
  column.in_legend = description.at("legend").boolean();
  if (const Json* csv = description.find("csv")) {
    column.csv = csv->string();
  }
  if (const Json* over = description.find("over")) {
    column.over = over->string();
  }
  return column;
}

Json with_typed_columns(Json result) {
  if (result.find("tables") == nullptr) {
    return result;
  }
  for (Json& table : result["tables"].items()) {
    for (Json& column : table["columns"].items()) {
      column = column_of(column);
    }
  }
  result["schema"] = kSchema;
  return result;
}

}  // namespace headlab
