// Tables for LaTeX. Every character of a word that LaTeX reads as a command is escaped;
// numbers are set in math mode, where a minus is a minus and 1e-06 a power of ten. The result needs
// booktabs and nothing else: no font encoding and no package of symbols.
// Read next: cell_text.cc, which makes the cells.
#include <map>

#include "app/report/shown_columns.h"
#include "headlab/app/report/result_text.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

/// Returns a character as LaTeX text.
std::string latex_character(const std::string& character) {
  static const std::map<std::string, std::string> kEscapes = {{"&", "\\&"},
                                                              {"%", "\\%"},
                                                              {"$", "\\$"},
                                                              {"#", "\\#"},
                                                              {"_", "\\_"},
                                                              {"{", "\\{"},
                                                              {"}", "\\}"},
                                                              {"\\", "\\textbackslash{}"},
                                                              {"^", "\\^{}"},
                                                              {"~", "\\~{}"},
                                                              {"<", "\\textless{}"},
                                                              {">", "\\textgreater{}"},
                                                              {"|", "\\textbar{}"},
                                                              {"\"", "\\symbol{34}"},
                                                              {"`", "\\symbol{96}"},
                                                              {"±", "$\\pm$"},
                                                              {"×", "$\\times$"},
                                                              {"−", "$-$"},
                                                              {"→", "$\\rightarrow$"},
                                                              {"≤", "$\\leq$"},
                                                              {"≥", "$\\geq$"},
                                                              {"√", "$\\surd$"},
                                                              {"★", "$\\star$"},
                                                              {"␣", "\\textvisiblespace{}"},
                                                              {"…", "\\ldots{}"},
                                                              {"▁", "\\rule{0.4em}{0.1em}"},
                                                              {"▂", "\\rule{0.4em}{0.2em}"},
                                                              {"▃", "\\rule{0.4em}{0.3em}"},
                                                              {"▄", "\\rule{0.4em}{0.4em}"},
                                                              {"▅", "\\rule{0.4em}{0.5em}"},
                                                              {"▆", "\\rule{0.4em}{0.6em}"},
                                                              {"▇", "\\rule{0.4em}{0.7em}"},
                                                              {"█", "\\rule{0.4em}{0.8em}"}};
  const auto found = kEscapes.find(character);
  return found == kEscapes.end() ? character : found->second;
}

/// Returns a negative number in math mode, $-0.5$, or one with a power, $1.2\times10^{-6}$; others
/// unchanged.
std::string latex_number(const std::string& number) {
  const std::size_t power = number.find_first_of("eE");
  if (power == number.npos) return number[0] == '-' ? "$" + number + "$" : number;
  const std::string exponent = std::to_string(std::stoi(number.substr(power + 1)));
  return "$" + number.substr(0, power) + "\\times10^{" + exponent + "}$";
}

/// Returns the length of the number that begins at `at`, 0 if none does. A number begins a word and
/// ends one, or is followed by a sign of its own, such as % or *.
std::size_t number_at(const std::string& cell, std::size_t at) {
  const bool begins = at == 0 || cell[at - 1] == ' ' || cell[at - 1] == '(';
  if (!begins) return 0;
  const std::size_t sign = cell[at] == '+' ? 1 : 0;
  const std::size_t length = number_length(std::string_view(cell).substr(at + sign));
  if (length == 0) return 0;
  const std::size_t end = at + sign + length;
  const bool ends =
      end == cell.size() || std::string_view(" ),%*;").find(cell[end]) != std::string_view::npos;
  return ends ? sign + length : 0;
}

/// Returns an escaped text in which two hyphens stay two hyphens.
std::string latex_text(const std::string& words) {
  std::string out;
  for (const std::string& character : characters_of(words)) {
    if (character == "-" && out.ends_with('-')) out += "{}";
    out += latex_character(character);
  }
  return out;
}

/// Returns a cell of numbers; words go through latex_text, because 1e5 may be a word.
std::string latex_numbers(const std::string& cell) {
  if (cell == "-") return "--";  // nothing is known
  std::string out;
  std::string plain;
  const auto flush = [&] {
    out += latex_text(plain);
    plain.clear();
  };
  for (std::size_t at = 0; at < cell.size();) {
    const std::size_t length = number_at(cell, at);
    if (length == 0) {
      plain += cell[at++];
      continue;
    }
    flush();
    out += latex_number(cell.substr(at, length));
    at += length;
  }
  flush();
  return out;
}

}  // namespace

std::string latex_of(const Table& table) {
  const std::vector<ShownColumn> columns = shown_columns(table);
  std::string out = "\\begin{tabular}{";
  for (const ShownColumn& column : columns) out += column.is_numeric ? 'r' : 'l';
  out += "}\n\\toprule\n";
  const auto line = [&](const auto& cell) {
    const std::string cells = join(texts_of(columns, cell), " & ");
    // After the \\ of the row before, [ would begin its argument, and * its starred form.
    const bool taken = cells.starts_with('[') || cells.starts_with('*');
    out += (taken ? "{}" : "") + cells + " \\\\\n";
  };
  line([](const ShownColumn& column) { return latex_text(column.title); });
  out += "\\midrule\n";
  for (std::size_t r = 0; !columns.empty() && r < columns[0].cells.size(); ++r) {
    line([r](const ShownColumn& column) {
      const std::string& cell = column.cells[r];
      return column.words[r] ? latex_text(cell) : latex_numbers(cell);
    });
  }
  return out + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace headlab
