// Columns of tables: how they are declared, and their descriptions in JSON. Names of kinds of cells
// and of forms in JSON are rows of the tables below; a description with another name is refused.
// Read next: table.cc.
#include <algorithm>
#include <array>

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
  if (!column.floors.empty()) {
    json["floors"] = column.floors;
  }
  return json;
}

Column column_of(const Json& description) {
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
  if (const Json* floors = description.find("floors")) {
    column.floors = read_as<std::vector<double>>(*floors);
  }
  return column;
}

}  // namespace headlab
