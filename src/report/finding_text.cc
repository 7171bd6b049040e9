// A cell becomes text by what its column says: decimals, unit, head or interval. Widths count code
// points, not bytes, and numbers are set to the right.
// Read next: base/table.h.
#include "headlab/report/finding_text.h"

#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "headlab/report/table.h"

namespace headlab {
namespace {

using Lines = std::vector<std::vector<std::string>>;

std::string number_shown(const Column& column, double x) {
  const double shown = column.unit == "%" ? 100 * x : x;
  if (column.digits == kPlain && shown == std::floor(shown) && std::abs(shown) < 1e9)
    return number_text(shown) + (column.unit == "%" ? "%" : "");
  const std::string digits = column.digits == kGrouped  ? grouped(static_cast<Index>(shown))
                             : column.digits == kSigned ? signed_text(shown)
                             : column.digits == kPlain  ? significant(shown)
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

std::string shown(const Column& column, const Json& cell) {
  if (cell.is_number()) return number_shown(column, cell.number());
  if (cell.is_string()) return harmless(cell.string());
  if (cell.is_bool()) return cell.boolean() ? "*" : "";
  if (!cell.is_array() || cell.items().empty()) return "-";
  if (column.is_interval()) return interval_shown(column, ends_of(cell));
  if (column.is_head() && cell.items()[0].is_null()) return "-";
  if (!cell.items()[0].is_array() && (column.is_head() || column.unit == "heads"))
    return cell.items()[0].dump() + "." + cell.items().at(1).dump();
  return join(texts_of(cell.items(), [&](const Json& part) { return shown(column, part); }), " ");
}

bool is_text(const Table& table, std::size_t c) {
  return std::ranges::any_of(table.rows, [&](const Json::Array& row) {
    return row[c].is_string() || row[c].is_bool() ||
           (row[c].is_array() && !table.columns[c].is_head());
  });
}

std::vector<Json::Array> shown_rows(const Table& table) {
  std::vector<Json::Array> rows = table.rows;
  if (table.most == 0) return rows;
  const auto c = &table.column(table.by) - table.columns.data();
  const auto size = [&](const Json::Array& row) {
    const Json& x = row[c].is_array() ? row[c].items()[0] : row[c];
    return x.is_number() ? std::abs(x.number()) : -1;
  };
  std::ranges::stable_sort(rows, std::greater<>(), size);
  rows.resize(std::min(rows.size(), table.most));
  return rows;
}

/// Columns of text, the first line their titles, and what is known of their widths.
struct TextBlock {
  Lines columns;
  std::vector<std::size_t> widths;
  std::vector<bool> left;

  std::size_t width() const {
    std::size_t sum = 0;
    for (const std::size_t one : widths) sum += one + 2;
    return sum - 2;
  }
};

/// The lines of a block. The last column is folded where it is text and the block too wide.
std::string block_text(TextBlock block, std::size_t width) {
  const std::size_t last = block.columns.size() - 1;
  if (block.width() > width && block.left[last]) {
    const std::size_t others = block.width() - block.widths[last];
    block.widths[last] = std::max<std::size_t>(width - std::min(width, others), 20);
  }
  std::string out;
  for (std::size_t r = 0; r < block.columns[0].size(); ++r) {
    const std::string folded = wrapped(block.columns[last][r], "", block.widths[last]);
    std::size_t part = 0;
    for (const std::string_view words :
         split(std::string_view(folded).substr(0, folded.size() - 1), '\n')) {
      std::string line;
      for (std::size_t c = 0; c <= last; ++c)
        line +=
            (c > 0 ? "  " : "") +
            padded(c == last   ? words
                   : part == 0 ? block.columns[c][r]
                               : std::string(),
                   std::max(block.widths[c], c == last ? display_width(words) : 0), !block.left[c]);
      out += trimmed_line(line);
      ++part;
    }
    if (r > 0) continue;
    std::string rule;
    for (const std::size_t one : block.widths) rule += std::string(one, '-') + "  ";
    out += trimmed_line(rule);
  }
  return out;
}

/// Titles and meanings of the columns: "lift: how far ...; p: ...".
std::string legend_of(const Table& table) {
  std::vector<std::string> parts;
  for (const Column& column : table.columns)
    if (column.told && column.digits != kHidden && !column.meaning.empty())
      parts.push_back(column.title + ": " + column.meaning);
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

std::string escaped_csv(std::string cell, bool is_text) {
  if (is_text && !cell.empty() && std::string_view("=+-@\t\r").find(cell[0]) != std::string::npos)
    cell.insert(0, "'");
  if (cell.find_first_of(",\"\r\n") == cell.npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_cell(const Column& column, const Json& cell) {
  if (cell.is_null()) return "";
  if (cell.is_string()) return escaped_csv(cell.string(), true);
  return cell.is_array() ? escaped_csv(shown(column, cell), false) : cell.dump();
}

/// The names that a column has for programs: its key, or of an array's place its title.
std::vector<std::string> csv_names(const Column& column) {
  std::vector<std::string> names = column.paths();
  const std::size_t dot = column.key.rfind('.') + 1;  // 0: there is none
  if (column.is_interval() && dot > 0) names[0] = column.key.substr(0, dot - 1);
  if (dot > 0 && column.key.find_first_not_of("0123456789", dot) == std::string::npos)
    names[0] = column.title;
  for (std::string& name : names) std::ranges::replace(name, '.', '_');
  if (column.is_interval()) return {names[0], names[0] + "_low", names[0] + "_high"};
  if (column.unit == "head") return {names[0] + "_layer", names[0] + "_head"};
  return names;
}

/// The cells below these names.
Json::Array csv_parts(const Column& column, const Json& cell) {
  if (column.is_interval()) return ends_of(cell);
  if (!column.is_head()) return {cell};
  return cell.is_null() ? Json::Array(2) : cell.items();
}

std::string latex_cell(const std::string& cell) {
  std::string out;
  for (const char c : cell) {
    if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) out += '\\';
    out += c == '\\'  ? "\\textbackslash{}"
           : c == '^' ? "\\^{}"
           : c == '~' ? "\\~{}"
                      : std::string(1, c);
  }
  for (std::size_t at; (at = out.find("±")) != out.npos;)
    out.replace(at, std::string_view("±").size(), "$\\pm$");
  return out;
}

}  // namespace

std::string text_of(const Table& table, std::size_t width) {
  const std::vector<Json::Array> rows = shown_rows(table);
  std::string out;
  TextBlock block;
  const auto add = [&](std::size_t c) {
    std::vector<std::string> cells = {table.columns[c].title};
    for (const Json::Array& row : rows) cells.push_back(shown(table.columns[c], row[c]));
    std::size_t most = 0;
    for (const std::string& cell : cells) most = std::max(most, display_width(cell));
    if (c > 0 && std::ranges::count(cells, "") == std::ssize(rows) && !rows.empty()) return;
    const std::size_t before = block.columns.empty() ? 0 : block.width() + 2;
    const bool left = is_text(table, c), folds = left && before + 20 <= width;
    if (block.columns.size() > 1 && before + most > width && !folds) {
      out += block_text(block, width) + "\n";
      block = {{block.columns[0]}, {block.widths[0]}, {block.left[0]}};
    }
    block.columns.push_back(std::move(cells));
    block.widths.push_back(most);
    block.left.push_back(left);
  };
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (table.columns[c].digits != kHidden) add(c);
  return out + block_text(block, width);
}

std::string text_of(const Finding& finding, const HeatmapOptions& options) {
  const std::size_t width = options.width;
  std::string out;
  for (const Table& table : finding.tables) {
    const std::string said = folded(legend_of(table), width) + folded(table.note, width);
    out +=
        (out.empty() ? "" : "\n") + folded(table.title, width) + (table.title.empty() ? "" : "\n");
    out +=
        (table.rows.empty() ? "none\n" : text_of(table, width)) + (said.empty() ? "" : "\n" + said);
  }
  for (const Figure& figure : finding.figures) out += figure_text(figure, options);
  return out;
}

std::string csv_of(const Table& table) {
  Lines lines(1);
  for (const Column& column : table.columns)
    for (const std::string& name : csv_names(column)) lines[0].push_back(escaped_csv(name, true));
  for (const Json::Array& row : table.rows) {
    std::vector<std::string>& cells = lines.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c)
      for (const Json& part : csv_parts(table.columns[c], row[c]))
        cells.push_back(csv_cell(table.columns[c], part));
  }
  return join(texts_of(lines, [](const auto& cells) { return join(cells, ","); }), "\n") + "\n";
}

std::string latex_of(const Table& table) {
  std::string out = "\\begin{tabular}{" + std::string(table.columns.size(), 'l') + "}\n\\toprule\n";
  const auto line = [&](const std::vector<std::string>& cells) {
    out += join(texts_of(cells, latex_cell), " & ") + " \\\\\n";
  };
  line(texts_of(table.columns, &Column::title));
  out += "\\midrule\n";
  for (const Json::Array& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t c = 0; c < row.size(); ++c) cells.push_back(shown(table.columns[c], row[c]));
    line(cells);
  }
  return out + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace headlab
