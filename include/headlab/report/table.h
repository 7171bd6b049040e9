// Text tables for terminals and files: columns are aligned, numbers to the right. A locale changes
// nothing: 0.5 is 0.5 everywhere. Read next: heads_text.h, where the tables of the program are put
// together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/statistics.h"
#include "headlab/kernels/scalar.h"

namespace headlab {

class Texts {
 public:
  explicit Texts(std::vector<std::string> header) : header_(std::move(header)) {}
  /// Error unless there is a cell for each column.
  void add(std::vector<std::string> row);
  /// A column at the right. Error unless there is a cell for each row.
  void add_column(std::string title, const std::vector<std::string>& cells);
  /// Header, rule, rows; each line ends with a newline. Columns whose cells all look like numbers
  /// are set to the right. While a TableCollection lives, it gets the table in its format as well.
  std::string to_string() const;
  /// RFC 4180: cells with commas, quotes or line breaks are quoted.
  std::string to_csv() const;
  /// A tabular for the package booktabs.
  std::string to_latex() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

enum class TableFormat { csv, latex };

/// Collects every table that this thread shows while it lives, one at a time, in another format: so
/// that whatever is shown as tables can be had as files for other programs.
class TableCollection {
 public:
  explicit TableCollection(TableFormat format);
  ~TableCollection();
  TableCollection(const TableCollection&) = delete;
  TableCollection& operator=(const TableCollection&) = delete;
  /// The tables so far, a blank line between them; "" if there was none.
  const std::string& tables() const { return tables_; }
  /// Whether there is one.
  static bool active();

 private:
  friend class Texts;
  TableFormat format_;
  std::string tables_;
};

/// A row of a table: its first cell, then the others.
std::vector<std::string> row_of(std::string first, std::vector<std::string> others);

/// `digits` decimals; "-" if not finite.
std::string fixed(double value, int digits);
/// 4 significant digits, as short as possible: 0.0005, 1.234, 1.2e-06.
std::string significant(double value);
/// 2 significant digits; 0 of what is not above 0.
std::string two_digits(double value);
/// The same with its sign: +0.0005, -1.234.
std::string signed_text(double value);
/// A share of 1 in percent, with `digits` decimals: 98%.
std::string percent(double share, int digits);
/// The numbers from 0 to count - 1, as labels.
std::vector<std::string> counted(std::size_t count);
/// "0.9462 ± 0.031", the half width with two digits; the mean alone where there is no interval.
std::string interval_text(const Interval& interval);
/// The same of a share, which no interval can put below 0 or above 1: there its two ends are shown,
/// cut off: "0.15 (0 to 0.32)".
std::string share_text(const Interval& share);
/// 1050624 as 1,050,624.
std::string grouped(Index value);
/// A line without the blanks at its end, and with its newline.
std::string trimmed_line(std::string line);
/// Words in lines of at most `columns`, each after the first begun with `indent`.
std::string wrapped(const std::string& words, const std::string& indent = "",
                    std::size_t columns = 100);
/// The number of columns that UTF-8 text takes on a terminal: its code points.
std::size_t display_width(std::string_view text);
/// The code points of UTF-8 text, each as the bytes that it has there.
std::vector<std::string> characters_of(std::string_view text);
/// `text` padded with blanks to `width` columns, at its end or its beginning, or cut to it.
std::string padded(std::string_view text, std::size_t width, bool to_the_right = false);

}  // namespace headlab
