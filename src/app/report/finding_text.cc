// A cell becomes text by what its column says: decimals, unit, head or interval. Widths count code
// points, not bytes, and numbers are set to the right.
// Read next: base/table.h.
#include "headlab/report/finding_text.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "headlab/base/error.h"
#include "headlab/base/statistics.h"
#include "headlab/base/text.h"
#include "report/shown_columns.h"

namespace headlab {
namespace {

std::string number_shown(const Column& column, double x) {
  const double shown = column.unit == "%" ? 100 * x : x;
  if (column.digits == kPlain && shown == std::floor(shown) && std::abs(shown) < 1e9)
    return number_text(shown) + (column.unit == "%" ? "%" : "");
  const std::string digits = column.digits == kGrouped  ? grouped(static_cast<Index>(shown))
                             : column.digits == kSigned ? signed_text(shown)
                             : column.digits == kPlain  ? significant(shown)
                             : column.digits == kChance ? (x > kLeastP ? significant(x) : "< 1e-6")
                                                        : fixed(shown, column.digits);
  return digits + (column.unit == "%" ? "%" : "");
}

/// x, low, high of an interval; low and high are null where it has no ends.
Json::Array ends_of(const Json& cell) {
  if (cell.is_null()) return Json::Array(3);
  const Json::Array& parts = cell.items();
  if (parts.size() == 3) return parts;
  const Json &x = parts.at(0), &half = parts.at(1);
  if (half.is_null()) return {x, {}, {}};
  return {x, x.number() - half.number(), x.number() + half.number()};
}

std::string interval_shown(const Column& column, const Json::Array& ends) {
  if (ends[0].is_null()) return "-";
  const double x = ends[0].number();
  if (ends[1].is_null()) return number_shown(column, x);
  const double low = ends[1].number(), high = ends[2].number(), half = (high - low) / 2;
  if (std::abs(x - low - half) > 1e-6 * half)
    return text(number_shown(column, x), " (", number_shown(column, low), " to ",
                number_shown(column, high), ")");
  return number_shown(column, x) + " ± " + two_digits(half);
}

/// A character for each number, from a low block at 0 to a full one at 1 and a blank where there is
/// none; of more than kMostBlocks evenly spaced ones, both ends among them.
std::string blocks_of(const Json::Array& numbers) {
  constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kMostBlocks = 40;
  const std::size_t count = std::min(numbers.size(), kMostBlocks);
  std::string line;
  for (std::size_t i = 0; i < count; ++i) {
    const Json& x = numbers[i * (numbers.size() - 1) / std::max<std::size_t>(count - 1, 1)];
    line += x.is_null() ? " " : kBlocks[std::lround(std::clamp(x.number(), 0.0, 1.0) * 7)];
  }
  return line;
}

bool is_marked(const Column& column) {
  return column.key.find(',') != std::string::npos && !column.is_interval() && !column.is_head();
}

std::string shown(const Column& column, const Json& cell) {
  if (cell.is_number()) return number_shown(column, cell.number());
  if (cell.is_string()) return harmless(cell.string());
  if (cell.is_bool()) return cell.boolean() ? "*" : "";
  if (!cell.is_array() || cell.items().empty()) return "-";
  const Json::Array& parts = cell.items();
  if (column.is_interval()) return interval_shown(column, ends_of(cell));
  if (is_marked(column)) {
    const bool word = parts[0].is_string(), mark = parts[1] == Json(true);
    return shown(column, parts[0]) + (mark ? word ? " (*)" : "*" : word ? "" : " ");
  }
  if (column.is_head() && parts[0].is_null()) return "-";
  if (!parts[0].is_array() && (column.is_head() || column.unit == "heads"))
    return parts[0].dump() + "." + parts.at(1).dump();
  if (column.unit == "line") return blocks_of(parts);
  return join(texts_of(parts, [&](const Json& part) { return shown(column, part); }),
              parts[0].is_string() ? ", " : " ");
}

bool is_text(const Column& column, const std::vector<Json::Array>& rows, std::size_t c) {
  return std::ranges::any_of(rows, [&](const Json::Array& row) {
    const Json& cell = is_marked(column) && row[c].is_array() ? row[c].items()[0] : row[c];
    return cell.is_string() || cell.is_bool() || (cell.is_array() && !column.is_head());
  });
}

std::vector<Json::Array> shown_rows(const Table& table) {
  std::vector<Json::Array> rows = table.rows;
  if (table.most == 0) return rows;
  const auto size = [&](const Json::Array& row) {
    const Json& cell = row[&table.column(table.by) - table.columns.data()];
    const Json& x = cell.is_array() ? cell.items()[0] : cell;
    return x.is_number() ? std::abs(x.number()) : -1;
  };
  if (!table.by.empty()) std::ranges::stable_sort(rows, std::greater<>(), size);
  rows.resize(std::min(rows.size(), table.most));
  return rows;
}

/// A column as text: the lines of its title, and its cells.
struct TextColumn {
  std::vector<std::string> title{}, cells{};
  std::size_t cells_width = 0;
  bool left = false;
  bool numeric = false;   // numbers and intervals
  bool names_it = false;  // texts, heads and whole numbers: what a row can be named by

  std::size_t width() const {
    std::size_t most = cells_width;
    for (const std::string& line : title) most = std::max(most, display_width(line));
    return most;
  }
  /// The title in lines as narrow as the cells, if its words are.
  void fold_title() {
    std::size_t longest = cells_width;
    for (const std::string_view word : split(title[0], ' '))
      longest = std::max(longest, display_width(word));
    title = lines_of(wrapped(title[0], "", longest));
  }
};
using TextColumns = std::vector<TextColumn>;

std::size_t width_of(const TextColumns& columns) {
  std::size_t sum = 0;
  for (const TextColumn& column : columns) sum += column.width() + 2;
  return sum - std::min<std::size_t>(sum, 2);
}

/// The columns with lines of titles, a rule and rows. The last is folded where it is text and the
/// block too wide.
std::string block_text(const TextColumns& columns, std::size_t width) {
  std::vector<std::size_t> widths;
  std::size_t titles = 1;
  for (const TextColumn& column : columns) {
    widths.push_back(column.width());
    titles = std::max(titles, column.title.size());
  }
  if (const std::size_t all = width_of(columns); all > width && columns.back().left)
    widths.back() = std::max<std::size_t>(width - std::min(width, all - widths.back()), 20);
  std::string out;
  const auto line = [&](const auto& cell) {
    std::string joined;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string shown = cell(c);
      joined += (c > 0 ? "  " : "") +
                padded(shown, std::max(widths[c], display_width(shown)), !columns[c].left);
    }
    out += trimmed_line(joined);
  };
  for (std::size_t i = 0; i < titles; ++i)
    line([&](std::size_t c) {
      const std::size_t from = titles - columns[c].title.size();  // titles stand on the rule
      return i < from ? std::string() : columns[c].title[i - from];
    });
  line([&](std::size_t c) { return std::string(widths[c], '-'); });
  for (std::size_t r = 0; r < columns[0].cells.size(); ++r) {
    const auto last = lines_of(wrapped(columns.back().cells[r], "", widths.back()));
    for (std::size_t part = 0; part < last.size(); ++part)
      line([&](std::size_t c) {
        return c + 1 == columns.size() ? last[part] : part > 0 ? "" : columns[c].cells[r];
      });
  }
  return out;
}

/// The number of leading columns that name a row: as many as make all rows different, or else all
/// that can name one. Blocks of a table that is split repeat them.
std::size_t key_count(const TextColumns& columns) {
  std::size_t count = 1;
  for (; count + 1 < columns.size() && columns[count].names_it; ++count) {
    std::set<std::vector<std::string>> names;
    for (std::size_t row = 0; row < columns[0].cells.size(); ++row) {
      std::vector<std::string> name;
      for (std::size_t c = 0; c < count; ++c) name.push_back(columns[c].cells[row]);
      names.insert(std::move(name));
    }
    if (names.size() == columns[0].cells.size()) return count;
  }
  return count;
}

/// Whether a column can name a row: texts, heads and whole numbers, not measured values.
bool names_rows(const Column& column, const std::vector<Json::Array>& rows, std::size_t c) {
  return std::ranges::all_of(rows, [&](const Json::Array& row) {
    const Json& cell = row[c];
    if (column.is_head() || cell.is_string() || is_blank(cell)) return true;
    return cell.is_number() && cell.number() == std::floor(cell.number());
  });
}

/// Hidden are columns that say so, and those in which no row says anything.
bool is_hidden(const Table& table, std::size_t c) {
  const auto empty = [c](const Json::Array& row) { return is_blank(row[c]) || row[c] == Json(""); };
  return table.columns[c].digits == kHidden ||
         (!table.rows.empty() && std::ranges::all_of(table.rows, empty));
}

TextColumns columns_of(const Table& table) {
  const std::vector<Json::Array> rows = shown_rows(table);
  TextColumns columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    if (is_hidden(table, c)) continue;
    TextColumn one{.title = {column.title}, .left = is_text(column, rows, c)};
    one.numeric = column.is_interval() || (!one.left && !column.is_head());
    one.names_it = names_rows(column, rows, c);
    for (const Json::Array& row : rows) {
      one.cells.push_back(shown(column, row[c]));
      one.cells_width = std::max(one.cells_width, display_width(one.cells.back()));
    }
    columns.push_back(std::move(one));
  }
  return columns;
}

/// Titles and meanings of the columns: "lift: how far ...; p: ...".
std::string legend_of(const Table& table) {
  std::vector<std::string> parts;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    const bool seen =
        table.grids.empty() || std::ranges::count(table.grids, column.key, &Grid::cell) > 0;
    if (column.told && seen && !column.meaning.empty() && !is_hidden(table, c))
      parts.push_back(column.title + ": " + column.meaning);
  }
  return join(parts, "; ");
}

/// Each line of `words`, folded.
std::string folded(const std::string& words, std::size_t width) {
  std::string out;
  for (const std::string_view line : split(words, '\n'))
    out += wrapped(std::string(line), "", width);
  return words.empty() ? "" : out;
}

std::string figure_text(const Figure& figure, const HeatmapOptions& options) {
  std::size_t columns = 0;
  double most = 0;
  for (const auto& row : figure.values) {
    columns = std::max(columns, row.size());
    for (const double value : row) most = std::max(most, value);
  }
  if (!(most > 0)) return "";
  std::vector<Scalar> shades;
  for (const auto& row : figure.values) {
    for (const double value : row)
      shades.push_back(static_cast<Scalar>(std::max(0.0, value) / most));
    shades.resize(shades.size() + columns - row.size());
  }
  return "\n" + folded(text(figure.title, "; 1.00 is ", significant(most)), options.width) + "\n" +
         heatmap(shades, counted(figure.values.size()), counted(columns), options);
}

std::string escaped_csv(std::string cell) {
  if (!cell.empty() && std::string_view("=+-@\t\r").find(cell[0]) != std::string::npos)
    cell.insert(0, "'");
  if (cell.find_first_of(",\"\r\n") == cell.npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_cell(const Json& cell) {
  if (cell.is_null()) return "";
  return cell.is_string() ? escaped_csv(cell.string()) : cell.dump();
}

/// Whether cells of a column are lists, of any length.
bool is_list(const Table& table, std::size_t c) {
  const Column& column = table.columns[c];
  return !column.is_interval() && !column.is_head() && !is_marked(column) &&
         std::ranges::any_of(table.rows, [c](const auto& row) { return row[c].is_array(); });
}

/// The table with a row for each value of a column of lists.
Table list_table(const Table& table, std::size_t list) {
  Table values = table;
  values.name += (table.name.empty() ? "" : ".") + table.columns[list].key;
  values.columns[list].unit = table.columns[list].unit == "heads" ? "head" : "";
  values.rows.clear();
  for (const Json::Array& row : table.rows)
    for (const Json& value : row[list].is_array() ? row[list].items() : Json::Array())
      values.rows.emplace_back(row)[list] = value;
  return values;
}

/// The cells below these names.
Json::Array csv_parts(const Column& column, const Json& cell) {
  if (column.is_interval()) return ends_of(cell);
  if (!column.is_head() && !is_marked(column)) return {cell};
  return cell.is_null() ? Json::Array(2) : cell.items();
}

}  // namespace

std::string text_of(const Table& table, std::size_t width) {
  TextColumns columns = columns_of(table), block;
  if (columns.empty()) return "";
  const std::size_t keys = key_count(columns);
  if (width_of(columns) > width)
    for (TextColumn& column : columns) column.fold_title();
  std::string out;
  for (TextColumn& column : columns) {
    block.push_back(column);
    const std::size_t wide = width_of(block), before = wide - column.width();
    const bool only_keys = block.size() <= keys + 1;
    if (only_keys || wide <= width || (column.left && before + 20 <= width)) continue;
    block.pop_back();
    out += block_text(block, width) + "\n";
    block = TextColumns(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(keys));
    block.push_back(column);
  }
  return out + block_text(block, width);
}

std::vector<ShownColumn> shown_columns(const Table& table) {
  std::vector<ShownColumn> all;
  for (TextColumn& column : columns_of(table))
    all.push_back({column.title[0], std::move(column.cells), column.numeric});
  return all;
}

std::string text_of(const Finding& finding, const HeatmapOptions& options) {
  const std::size_t width = options.width;
  std::string out;
  const auto add = [&](const Table& table, const std::string& said) {
    out +=
        (out.empty() ? "" : "\n") + folded(table.title, width) + (table.title.empty() ? "" : "\n") +
        (table.rows.empty() ? "none\n" : text_of(table, width)) + (said.empty() ? "" : "\n" + said);
  };
  for (const Table& table : finding.tables) {
    if (!table.shown ||
        std::ranges::count(table.columns, kHidden, &Column::digits) == std::ssize(table.columns))
      continue;
    const std::string said = folded(legend_of(table), width) + folded(table.note, width);
    if (table.grids.empty()) {
      add(table, said);
      continue;
    }
    out += (out.empty() ? "" : "\n") + folded(table.title, width);
    for (const Grid& grid : table.grids)
      if (const Table one = grid_table(table, grid); !one.rows.empty()) add(one, "");
    out += said.empty() ? "" : "\n" + said;
  }
  for (const Figure& figure : finding.figures) out += figure_text(figure, options);
  return out;
}

/// The key, or the title of a place in an array.
std::vector<std::string> csv_names(const Column& column) {
  std::vector<std::string> names = column.paths();
  const std::size_t dot = column.key.rfind('.') + 1;  // 0: there is none
  if (column.is_interval() && dot > 0) names[0] = column.key.substr(0, dot - 1);
  if (dot > 0 && column.key.find_first_not_of("0123456789", dot) == std::string::npos)
    names[0] = column.title;
  for (std::string& name : names)
    for (const char sign : {'.', ' '}) std::ranges::replace(name, sign, '_');
  if (column.is_interval()) return {names[0], names[0] + "_low", names[0] + "_high"};
  if (column.unit == "head") return {names[0] + "_layer", names[0] + "_head"};
  return names;
}

std::string csv_of(const Table& table) {
  std::vector<std::vector<std::string>> lines(1 + table.rows.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (is_list(table, c)) continue;
    const Column& column = table.columns[c];
    for (const std::string& name : csv_names(column)) lines[0].push_back(escaped_csv(name));
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      for (const Json& part : csv_parts(column, table.rows[r][c]))
        lines[r + 1].push_back(csv_cell(part));
  }
  return join(texts_of(lines, [](const auto& cells) { return join(cells, ","); }), "\n") + "\n";
}

std::vector<Table> with_lists(const std::vector<Table>& tables) {
  std::vector<Table> all;
  for (const Table& table : tables) {
    all.push_back(table);
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (is_list(table, c)) all.push_back(list_table(table, c));
  }
  return all;
}

}  // namespace headlab
