// Results as JSON and back. A row is an object, in which each column has its place: a path of names
// and of indices in arrays. The columns are described next to the rows, so that a reader needs no
// knowledge of the analysis. Read next: json.h.
#include "headlab/lab/results/table.h"

#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab {
namespace {

bool is_place(std::string_view part) {
  return !part.empty() && part.size() < 6 && part.find_first_not_of("0123456789") == part.npos;
}

void set(Json& row, const std::string& path, const Json& value) {
  Json* at = &row;
  for (const std::string_view part : split(path, '.')) {
    if (!is_place(part)) {
      at = &(*at)[part];
      continue;
    }
    if (at->is_null()) *at = Json::array();
    at->items().resize(std::max(at->items().size(), std::stoul(std::string(part)) + 1));
    at = &at->items()[std::stoul(std::string(part))];
  }
  *at = value;
}

/// Returns the value at the path; null if there is none.
const Json& get(const Json& row, const std::string& path) {
  static const Json nothing;
  const Json* at = &row;
  for (const std::string_view part : split(path, '.')) {
    const Json* next = at->is_object() ? at->find(part) : nullptr;
    if (at->is_array() && is_place(part) && std::stoul(std::string(part)) < at->items().size()) {
      next = &at->items()[std::stoul(std::string(part))];
    }
    if (next == nullptr) return nothing;
    at = next;
  }
  return *at;
}

bool is_missing(const Json& part) {
  return part.is_object() && std::ranges::all_of(part.members(), [](const Json::Member& member) {
           return member.second.is_null() || is_missing(member.second);
         });
}

/// Returns the cells from column `first` on.
Json row_to_json(const Table& table, const Json::Array& row, std::size_t first = 0) {
  require(row.size() == table.columns.size(), "cannot write the table ", table.name, " of ",
          table.columns.size(), " columns: a row has ", row.size());
  Json json = Json::object();
  for (std::size_t c = first; c < row.size(); ++c) {
    const std::vector<std::string>& paths = table.columns[c].paths;
    if (paths.size() == 1) {
      set(json, paths[0], row[c]);
      continue;
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
      set(json, paths[i], row[c].is_null() ? Json() : row[c].items().at(i));
    }
  }
  for (const std::string& part : table.optional_parts) {
    if (is_missing(get(json, part))) set(json, part, Json());
  }
  return json;
}

Json::Array row_of_json(const Table& table, const Json& json) {
  json.members();  // an error unless it is an object
  Json::Array row;
  for (const Column& column : table.columns) {
    Json::Array values;
    for (const std::string& path : column.paths) {
      values.push_back(get(json, path));
    }
    const bool is_one = values.size() == 1;
    row.push_back(is_one ? values[0] : Json(values));
  }
  return row;
}

/// Returns the rows as objects, one in another if the table has an `inner` array.
Json rows_to_json(const Table& table) {
  Json rows = Json::array();
  for (const Json::Array& row : table.rows) {
    if (table.inner.empty()) {
      rows.push_back(row_to_json(table, row));
      continue;
    }
    const std::string& key = table.columns[0].key;
    Json::Array& groups = rows.items();
    if (groups.empty() || groups.back().at(key) != row[0]) {
      groups.push_back(Json::object({{key, row[0]}, {table.inner, Json::array()}}));
    }
    groups.back()[table.inner].push_back(row_to_json(table, row, 1));
  }
  return rows;
}

/// Returns the rows of `json`; the rows in arrays `inner` also get the members next to their array.
Json rows_of_json(const Json& json, const std::string& inner) {
  if (inner.empty()) {
    return json.items();
  }
  Json rows = Json::array();
  for (const Json& row : json.items()) {
    for (const Json& part : row.at(inner).items()) {
      Json::Object members = row.members();
      std::ranges::copy(part.members(), std::back_inserter(members));
      rows.push_back(std::move(members));
    }
  }
  return rows;
}

Table described(const Json& json) {
  Table table{.name = json.at("name").string(),
              .columns = mapped(json.at("columns").items(), column_of),
              .title = json.at("title").string(),
              .note = json.at("note").string(),
              .inner = json.at("inner").string()};
  if (const Json* by = json.find("by")) table.by = by->string();
  return table;
}

void check_kinds(const Table& table) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::size_t parts = table.columns[c].paths.size();
    for (std::size_t i = 0; i < parts; ++i) {
      const char* kind = nullptr;
      for (const Json::Array& row : table.rows) {
        const Json& part = parts == 1 ? row[c] : row[c].items()[i];
        if (part.is_null()) continue;
        if (kind == nullptr) kind = part.kind();
        require(std::string_view(kind) == part.kind(), "cannot write the table ", table.name,
                ": column ", table.columns[c].key, ": ", part.kind(), " where others are ", kind);
      }
    }
  }
}

}  // namespace

void TableRow::add(Toned cell) {
  tones.resize(size());
  tones.push_back(cell.tone);
  push_back(std::move(cell.value));
}

std::size_t Table::index_of(const std::string& key) const {
  const auto found = std::ranges::find(columns, key, &Column::key);
  if (found == columns.end()) throw unknown_name("column", key, texts_of(columns, &Column::key));
  return static_cast<std::size_t>(found - columns.begin());
}

std::vector<Json> Table::cells(const std::string& key) const {
  const std::size_t c = index_of(key);
  return mapped(rows, [&](const Json::Array& row) { return row[c]; });
}

bool is_blank(const Json& cell) {
  return cell.is_null() ||
         (cell.is_array() && !cell.items().empty() && std::ranges::all_of(cell.items(), is_blank));
}

Table grid_table(const Table& table, const Grid& grid) {
  const std::size_t down = table.index_of(grid.down);
  const std::size_t across = table.index_of(grid.across);
  const std::size_t cell = table.index_of(grid.cell);
  Table result{.name = table.name, .columns = {table.columns[down]}, .title = grid.title};
  result.columns[0].title = table.columns[across].title;
  std::vector<Json> names;  // in the order of the rows, or of their size
  for (const Json::Array& row : table.rows) {
    if (!is_blank(row[cell]) && std::ranges::count(names, row[across]) == 0) {
      names.push_back(row[across]);
    }
  }
  if (std::ranges::all_of(names, &Json::is_number)) std::ranges::sort(names, {}, &Json::number);
  for (const Json& name : names) {
    result.columns.push_back(table.columns[cell]);
    result.columns.back().title = name.is_string() ? name.string() : name.dump();
  }
  for (const Json::Array& row : table.rows) {
    if (is_blank(row[cell])) continue;
    auto at = std::ranges::find(result.rows, row[down], [](const auto& r) { return r[0]; });
    if (at == result.rows.end()) {
      at = result.rows.insert(at, Json::Array(result.columns.size()));
      at->at(0) = row[down];
    }
    at->at(std::ranges::find(names, row[across]) - names.begin() + 1) = row[cell];
  }
  return result;
}

const Table& Result::table(const std::string& name) const {
  if (name.empty() && tables.size() == 1) return tables[0];
  const std::vector<std::string> names = texts_of(tables, &Table::name);
  if (name.empty() && std::ranges::count(names, "") == 0) {
    throw Error("cannot choose a table: there are several tables",
                text("name one of ", join(names, ", ")));
  }
  return named("table", name, tables, &Table::name);
}

/// Adds the rows of a table to the JSON of its result, unless that has them.
static void add_rows(const Table& table, Json& json) {
  const bool may_have_rows = table.name.empty() || !get(json, table.name).is_null();
  if (table.rows_in_about && may_have_rows) return;
  const auto add = [&](const std::string& path, const Json& value) {
    const Json& known = get(json, path);
    require(known.is_null() || known == value, "cannot write the table ", table.name, ": the key ",
            path, " is also a fact of the result");
    set(json, path, value);
  };
  const Json rows = rows_to_json(table);
  if (!table.name.empty()) {
    add(table.name, rows);
    return;
  }
  for (const Json& row : rows.items()) {
    for (const auto& [key, value] : row.members()) add(key, value);
  }
}

Json to_json(const Result& result) {
  Json json = result.about;
  Json shapes = Json::array();
  for (const Table& table : result.tables) {
    add_rows(table, json);
    shapes.push_back(Json::object({{"name", table.name},
                                   {"title", table.title},
                                   {"columns", table.columns},
                                   {"note", table.note},
                                   {"inner", table.inner},
                                   {"by", table.by}}));
  }
  if (!result.figures.empty()) json["figures"] = Json::array();
  for (const auto& [name, title, values] : result.figures) {
    json["figures"].push_back(Json::object({{"name", name}, {"title", title}}));
    json[name] = values;
  }
  json["schema"] = kSchema;
  json["tables"] = shapes;
  return json;
}

void check_schema(const Json& result) {
  const Json* schema = result.find("schema");
  if (schema != nullptr && *schema == Json(kSchema)) return;
  const std::string found = schema == nullptr ? "no schema" : "schema " + schema->dump();
  throw Error(text("another development version of headlab wrote it, with ", found,
                   "; this version reads schema ", kSchema),
              "repeat the command that made it");
}

Table table_of(const Json& json, Table table) {
  in_context("cannot read the table " + table.name, [&] {
    table.rows.clear();
    const Json rows = table.name.empty() ? Json(Json::Array{json})
                                         : rows_of_json(get(json, table.name), table.inner);
    for (const Json& row : rows.items()) table.rows.push_back(row_of_json(table, row));
  });
  check_kinds(table);
  return table;
}

Result result_of(const Json& json) {
  check_schema(json);
  Result result{.about = json};
  for (const Json& shape : json.at("tables").items()) {
    result.tables.push_back(table_of(json, described(shape)));
    result.tables.back().rows_in_about = true;
  }
  std::erase_if(result.about.members(),
                [](const Json::Member& member) { return member.first == "tables"; });
  return result;
}

}  // namespace headlab
