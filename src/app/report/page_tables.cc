// Tables of results as a page shows them: the text of each cell with the numbers by which it is
// sorted and drawn, and names of relations and targets for a reader. Read next:
// src/app/report/page/views/results/results.js.
#include <algorithm>
#include <array>

#include "app/report/cell_text.h"
#include "app/report/page_parts.h"
#include "app/report/task_words.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/table.h"

namespace headlab {
namespace {

/// Names of relations and targets of a task for a reader: "1 back" for "back1".
class SpokenNames {
 public:
  explicit SpokenNames(const Task& task) : task_(task.spec()), names_(task.target_names()) {
    for (const Relation& relation : task.relations()) names_.push_back(relation.name);
  }

  /// Returns a title for a reader, which may be a name.
  std::string title(const std::string& title) const {
    const bool is_name = std::ranges::find(names_, title) != names_.end();
    return is_name ? spoken_name(title, task_) : title;
  }

  /// Returns the title of a column; that of a score of a relation, at scores.RELATION, begins with
  /// the name of the relation.
  std::string title(const Column& column) const {
    const std::vector<std::string_view> path = split(column.key, '.');
    const bool is_score =
        path.size() > 1 && path[0] == "scores" && column.title.starts_with(path[1]);
    if (!is_score) return title(column.title);
    return spoken_name(std::string(path[1]), task_) + column.title.substr(path[1].size());
  }

  /// Returns names, separated by commas, as those for a reader.
  std::string names(const std::string& words) const {
    std::vector<std::string> spoken;
    for (std::string_view name : split(words, ',')) {
      if (name.starts_with(' ')) name.remove_prefix(1);
      spoken.push_back(spoken_name(std::string(name), task_));
    }
    return join(spoken, ", ");
  }

 private:
  std::string task_;
  std::vector<std::string> names_;
};

/// Tables whose column "name" has relations.
constexpr std::array<std::string_view, 3> kOfRelations = {"relations", "against", "single_against"};

/// Returns whether the cells of a column are names of relations or targets.
bool has_names(const Column& column, const std::string& table) {
  const std::string_view last = split(column.key, '.').back();
  const bool is_named = last == "relation" || last == "relations" || last == "target";
  const bool is_of_relations = std::ranges::find(kOfRelations, table) != kOfRelations.end();
  return is_named || (column.key == "name" && is_of_relations);
}

/// Returns a cell as a reader sees it, with the numbers by which it is sorted and drawn.
Json shown_cell(const Column& column, const std::string& table, const Json& cell,
                const SpokenNames& spoken) {
  std::string words = cell_text(column, cell);
  words.erase(words.find_last_not_of(' ') + 1);  // the blank that aligns numbers without a mark
  if (has_names(column, table)) words = spoken.names(words);
  Json shown = Json::array();
  shown.push_back(words);
  const bool has_interval = column.is_interval() && cell.is_array();
  const IntervalCell interval = has_interval ? interval_of(cell) : IntervalCell();
  const Json& value = has_interval ? interval.value : main_value(column, cell);
  if (value.is_number()) shown.push_back(value);
  if (value.is_bool()) shown.push_back(value.boolean() ? 1 : 0);
  if (value.is_number() && !interval.low.is_null()) {
    shown.push_back(interval.low);
    shown.push_back(interval.high);
  }
  return shown;
}

Json shown_table(const Table& table, const SpokenNames& spoken) {
  Json titles = Json::array();
  for (const Column& column : table.columns) titles.push_back(spoken.title(column));
  Json rows = Json::array();
  for (const Json::Array& row : table.rows) {
    Json cells = Json::array();
    for (std::size_t c = 0; c < row.size(); ++c) {
      cells.push_back(shown_cell(table.columns[c], table.name, row[c], spoken));
    }
    rows.push_back(std::move(cells));
  }
  return Json::object({{"title", spoken.title(table.title)}, {"columns", titles}, {"rows", rows}});
}

}  // namespace

Json shown_tables(const Json& reports, const Task& task) {
  const SpokenNames spoken(task);
  Json shown = Json::object();
  for (const Json::Member& report : reports.members()) {
    const Result result = in_context(text("cannot read ", report.first, ".json"),
                                     [&] { return result_of(report.second); });
    Json& tables = shown[report.first] = Json::array();
    for (const Table& table : result.tables) tables.push_back(shown_table(table, spoken));
  }
  return shown;
}

}  // namespace headlab
