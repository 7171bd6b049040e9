// Formatting of numbers, intervals, heads, marks and lists as text. A cell without a description in
// its column is shown by its own type, so that results of other versions stay readable.
// Read next: shown_columns.cc.
#include "app/report/cell_text.h"

#include <algorithm>
#include <cmath>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/statistics.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

/// Returns a whole number in full, any other with 4 significant digits.
std::string automatic_text(double x) {
  const bool is_whole = x == std::floor(x) && std::abs(x) < 1e9;
  return is_whole ? number_text(x) : significant(x);
}

/// Returns a p-value as text. The smallest that the number of draws allows is only a bound, shown
/// as the next customary level above it; it stays a number above the largest of these levels.
std::string p_shown(const Column& column, double p) {
  if (p <= kLeastP) return "< 1e-6";
  const bool is_floor = std::ranges::count(column.floors, p) > 0;
  for (const double level : {1e-5, 1e-4, 0.001, 0.01, 0.05}) {
    if (is_floor && p < level) return "< " + significant(level);
  }
  return significant(p);
}

std::string number_shown(const Column& column, double x) {
  switch (column.form) {
    case Form::fixed:
      return fixed(x, column.digits);
    case Form::percent:
      return fixed(100 * x, column.digits) + "%";
    case Form::signed_number:
      return signed_text(x);
    case Form::grouped:
      return grouped(static_cast<std::int64_t>(x));
    case Form::p_value:
      return p_shown(column, x);
    case Form::automatic:
    case Form::hidden:
      break;
  }
  return automatic_text(x);
}

std::string interval_shown(const Column& column, const IntervalCell& interval) {
  if (interval.value.is_null()) {
    return "-";
  }
  const double value = interval.value.number();
  const std::string shown = number_shown(column, value);
  if (interval.low.is_null()) {
    return shown;
  }
  const double low = interval.low.number();
  const double high = interval.high.number();
  const double half = (high - low) / 2;
  const bool is_symmetric = std::abs(value - low - half) <= 1e-6 * half;
  if (is_symmetric) {
    return shown + " ± " + two_digits(half);
  }
  return text(shown, " (", number_shown(column, low), " to ", number_shown(column, high), ")");
}

/// Returns a character for each number, from a low block at 0 to a full one at 1, and a blank for
/// null. A list of more than kMostBlocks numbers is sampled at even distances, including both ends.
std::string blocks_of(const Json::Array& numbers) {
  constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kMostBlocks = 40;
  const std::size_t count = std::min(numbers.size(), kMostBlocks);
  const std::size_t steps = std::max<std::size_t>(count, 2) - 1;
  std::string line;
  for (std::size_t i = 0; i < count; ++i) {
    const Json& x = numbers[i * (numbers.size() - 1) / steps];
    if (x.is_null()) {
      line += " ";
      continue;
    }
    const double height = std::clamp(x.number(), 0.0, 1.0);
    line += kBlocks[std::lround(height * 7)];
  }
  return line;
}

/// Returns a word followed by (*) for an owner, or a number followed by * for an owner, by ° for a
/// head with another role, or, to keep numbers aligned, by a blank.
std::string marked_shown(const Column& column, const Json::Array& parts) {
  const bool is_owner = parts.at(1) == Json(true) || parts[1] == Json("owner");
  const bool has_role = parts[1].is_string() && !parts[1].string().empty();
  const std::string shown = cell_text(column, parts[0]);
  if (parts[0].is_string()) {
    return is_owner ? shown + " (*)" : shown;
  }
  if (is_owner) {
    return shown + "*";
  }
  return shown + (has_role ? "°" : " ");
}

std::string head_shown(const Json::Array& parts) {
  if (parts[0].is_null()) {
    return "-";
  }
  return parts[0].dump() + "." + parts.at(1).dump();
}

std::string list_shown(const Column& column, const Json::Array& parts) {
  const std::string separator = parts[0].is_string() ? ", " : " ";
  const auto shown = [&](const Json& part) { return cell_text(column, part); };
  return join(texts_of(parts, shown), separator);
}

/// Returns whether a cell is an array with at least one element.
std::string array_shown(const Column& column, const Json& cell) {
  const Json::Array& parts = cell.items();
  const bool is_nested = parts[0].is_array();
  switch (column.cell) {
    case CellKind::interval:
    case CellKind::half_width:
      return interval_shown(column, interval_of(cell));
    case CellKind::marked:
      return marked_shown(column, parts);
    case CellKind::head:
    case CellKind::heads:
      return is_nested ? list_shown(column, parts) : head_shown(parts);
    case CellKind::sparkline:
      return blocks_of(parts);
    case CellKind::plain:
      break;
  }
  return list_shown(column, parts);
}

}  // namespace

IntervalCell interval_of(const Json& cell) {
  if (cell.is_null()) {
    return {};
  }
  const Json::Array& parts = cell.items();
  if (parts.size() == 3) {
    return {parts[0], parts[1], parts[2]};
  }
  const Json& value = parts.at(0);
  const Json& half_width = parts.at(1);
  if (half_width.is_null()) {
    return {value, {}, {}};
  }
  const double half = half_width.number();
  return {value, value.number() - half, value.number() + half};
}

std::string cell_text(const Column& column, const Json& cell) {
  if (cell.is_number()) {
    return number_shown(column, cell.number());
  }
  if (cell.is_string()) {
    return harmless(cell.string());
  }
  if (cell.is_bool()) {
    return cell.boolean() ? "*" : "";
  }
  const bool has_parts = cell.is_array() && !cell.items().empty();
  return has_parts ? array_shown(column, cell) : "-";
}

const Json& main_value(const Column& column, const Json& cell) {
  const bool has_mark = column.cell == CellKind::marked && cell.is_array();
  return has_mark ? cell.items().at(0) : cell;
}

}  // namespace headlab
