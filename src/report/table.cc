// Text tables. Widths count code points, not bytes, so that tokens of any script line up. A column
// whose cells all look like numbers is set to the right, so that their digits stand below one
// another. Read next: heatmap.cc.
#include "headlab/report/table.h"

#include <algorithm>
#include <cmath>
#include <iomanip>

#include "headlab/base/error.h"
#include "headlab/base/text.h"

namespace headlab {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

bool looks_like_number(const std::string& cell) {
  return cell.empty() || cell == "-" ||
         cell.find_first_not_of("+-.,0123456789eE%x") == std::string::npos;
}

void add_line(std::string& out, const std::vector<std::string>& cells,
              const std::vector<std::size_t>& widths, const std::vector<bool>& right) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c)
    line += (c > 0 ? "  " : "") + padded(cells[c], widths[c], right[c]);
  out += trimmed_line(std::move(line));
}

thread_local TableCollection* collection = nullptr;

/// Whether commas stand before every three digits and nowhere else, as `grouped` puts them.
bool is_grouped(const std::string& cell) {
  bool right = cell.find_first_not_of("-,0123456789") == cell.npos && !cell.starts_with(',');
  for (std::size_t i = 1; i < cell.size(); ++i)
    right = right && (cell[i] == ',') == ((cell.size() - i) % 4 == 0 && cell[i - 1] != '-');
  return right;
}

std::string csv_cell(std::string cell) {
  if (is_grouped(cell)) std::erase(cell, ',');
  if (cell.find_first_of(",\"\r\n") == cell.npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
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

std::string two_digits(double value) {
  if (!(value > 0)) return "0";
  const double place = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return significant(std::round(value / place) * place);
}

TableCollection::TableCollection(TableFormat format) : format_(format) { collection = this; }
TableCollection::~TableCollection() { collection = nullptr; }
bool TableCollection::active() { return collection != nullptr; }

void Texts::add(std::vector<std::string> row) {
  require(row.size() == header_.size(), "a table of ", header_.size(), " columns got a row of ",
          row.size());
  for (std::string& cell : row) cell = harmless(cell);
  rows_.push_back(std::move(row));
}

void Texts::add_column(std::string title, const std::vector<std::string>& cells) {
  require(cells.size() == rows_.size(), "a table of ", rows_.size(), " rows got a column of ",
          cells.size(), " cells");
  header_.push_back(std::move(title));
  for (std::size_t i = 0; i < cells.size(); ++i) rows_[i].push_back(cells[i]);
}

std::string Texts::to_string() const {
  if (collection != nullptr) {
    collection->tables_ += (collection->tables_.empty() ? "" : "\n") +
                           (collection->format_ == TableFormat::csv ? to_csv() : to_latex());
  }
  std::vector<std::size_t> widths;
  std::vector<bool> right(header_.size(), true);
  for (const std::string& title : header_) widths.push_back(display_width(title));
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], display_width(row[c]));
      right[c] = right[c] && looks_like_number(row[c]);
    }
  }
  std::string out;
  add_line(out, header_, widths, right);
  std::vector<std::string> rule;
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  add_line(out, rule, widths, right);
  for (const auto& row : rows_) add_line(out, row, widths, right);
  return out;
}

std::string Texts::to_csv() const {
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    out += join(texts_of(cells, csv_cell), ",") + "\n";
  };
  line(header_);
  std::ranges::for_each(rows_, line);
  return out;
}

std::string Texts::to_latex() const {
  std::string out = "\\begin{tabular}{" + std::string(header_.size(), 'l') + "}\n\\toprule\n";
  const auto line = [&](const std::vector<std::string>& cells) {
    out += join(texts_of(cells, latex_cell), " & ") + " \\\\\n";
  };
  line(header_);
  out += "\\midrule\n";
  std::ranges::for_each(rows_, line);
  return out + "\\bottomrule\n\\end{tabular}\n";
}

std::vector<std::string> row_of(std::string first, std::vector<std::string> others) {
  others.insert(others.begin(), std::move(first));
  return others;
}

std::string fixed(double value, int digits) {
  return std::isfinite(value) ? text(std::fixed, std::setprecision(digits), value) : "-";
}

std::string significant(double value) {
  return std::isfinite(value) ? text(std::setprecision(4), value) : "-";
}

std::string signed_text(double value) { return (value >= 0 ? "+" : "") + significant(value); }

std::string percent(double share, int digits) { return fixed(100 * share, digits) + "%"; }

std::vector<std::string> counted(std::size_t count) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

std::string interval_text(const Interval& interval) {
  const std::string center = significant(interval.mean);
  return std::isfinite(interval.half_width) ? center + " ± " + two_digits(interval.half_width)
                                            : center;
}

std::string share_text(const Interval& share) {
  const double low = share.mean - share.half_width, high = share.mean + share.half_width;
  if (!(low < 0 || high > 1)) return interval_text(share);
  return text(significant(share.mean), " (", significant(std::max(low, 0.0)), " to ",
              significant(std::min(high, 1.0)), ")");
}

std::string grouped(Index value) {
  std::string digits = std::to_string(value);
  const std::ptrdiff_t first = value < 0 ? 1 : 0;
  for (std::ptrdiff_t i = std::ssize(digits) - 3; i > first; i -= 3) digits.insert(i, ",");
  return digits;
}

std::string wrapped(const std::string& words, const std::string& indent, std::size_t columns) {
  std::string all, line;
  for (const std::string_view word : split(words, ' ')) {
    if (!line.empty() && display_width(line) + 1 + display_width(word) > columns) {
      all += line + "\n";
      line = indent + std::string(word);
    } else {
      line += (line.empty() ? "" : " ") + std::string(word);
    }
  }
  return all + line + "\n";
}

std::string trimmed_line(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::size_t display_width(std::string_view text) {
  return text.size() - std::ranges::count_if(text, continues);
}

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (const char byte : text)
    if (continues(byte) && !characters.empty())
      characters.back() += byte;
    else
      characters.emplace_back(1, byte);
  return characters;
}

std::string padded(std::string_view text, std::size_t width, bool to_the_right) {
  std::string cut;
  std::size_t columns = 0;
  for (const char byte : text) {
    columns += continues(byte) ? 0 : 1;
    if (columns > width) break;
    cut += byte;
  }
  const std::string blanks(width - std::min(width, display_width(cut)), ' ');
  return to_the_right ? blanks + cut : cut + blanks;
}

}  // namespace headlab
