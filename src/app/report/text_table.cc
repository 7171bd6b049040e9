// A table in lines of a limited width: titles are folded first, then the table is split into
// blocks, one below another, that repeat the columns that name a row. Widths count the columns of a
// terminal, not bytes; numbers are right-aligned.
// Read next: shown_columns.cc, which makes the cells.
#include <algorithm>
#include <set>

#include "app/report/shown_columns.h"
#include "headlab/app/report/result_text.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

constexpr std::size_t kGap = 2;         // blanks between columns
constexpr std::size_t kLeastText = 20;  // the narrowest that a last column of texts is folded to

/// Column with the lines of its title.
struct TextColumn {
  ShownColumn shown;
  std::vector<std::string> title{};
  std::size_t cells_width = 0;

  explicit TextColumn(ShownColumn column) : shown(std::move(column)), title{shown.title} {
    for (const std::string& cell : shown.cells) {
      cells_width = std::max(cells_width, display_width(cell));
    }
  }

  std::size_t width() const {
    std::size_t most = cells_width;
    for (const std::string& line : title) {
      most = std::max(most, display_width(line));
    }
    return most;
  }

  /// Folds the title to the width of the cells or, if that is more, of its longest word.
  void fold_title() {
    std::size_t longest = cells_width;
    for (const std::string_view word : split(shown.title, ' ')) {
      longest = std::max(longest, display_width(word));
    }
    title = lines_of(wrapped(shown.title, "", longest));
  }
};
using TextColumns = std::vector<TextColumn>;

std::size_t width_of(const TextColumns& columns) {
  std::size_t sum = 0;
  for (const TextColumn& column : columns) {
    sum += column.width() + kGap;
  }
  return sum - std::min(sum, kGap);
}

/// Writes lines of cells, one below another.
class BlockWriter {
 public:
  /// Narrows the last column if the block is wider than `width` and the column has texts.
  BlockWriter(const TextColumns& columns, std::size_t width) : columns_(columns) {
    for (const TextColumn& column : columns) {
      widths_.push_back(column.width());
      title_lines_ = std::max(title_lines_, column.title.size());
    }
    const std::size_t all = width_of(columns);
    if (all > width && columns.back().shown.is_text) {
      const std::size_t others = all - widths_.back();
      widths_.back() = std::max(width - std::min(width, others), kLeastText);
    }
  }

  void write_titles() {
    for (std::size_t i = 0; i < title_lines_; ++i) {
      write_line([&](std::size_t c) {
        const std::vector<std::string>& title = columns_[c].title;
        const std::size_t blank = title_lines_ - title.size();  // shorter titles are at the bottom
        return Piece{i < blank ? std::string() : title[i - blank]};
      });
    }
    write_line([&](std::size_t c) { return Piece{std::string(widths_[c], '-')}; });
  }

  /// Writes a row, in several lines if the cell of the last column is folded.
  void write_row(std::size_t row) {
    const std::size_t last = columns_.size() - 1;
    const std::string& last_cell = columns_[last].shown.cells[row];
    const std::vector<std::string> parts = lines_of(wrapped(last_cell, "", widths_[last]));
    for (std::size_t part = 0; part < parts.size(); ++part) {
      write_line([&](std::size_t c) {
        const ShownColumn& column = columns_[c].shown;
        if (c == last) {
          return Piece{parts[part], column.tones[row]};
        }
        return part == 0 ? Piece{column.cells[row], column.tones[row]} : Piece{};
      });
    }
  }

  const TonedText& text() const { return text_; }

 private:
  using Piece = TonedText::Piece;

  /// Writes the cells, without the blanks at the end of the line.
  template <class CellOf>
  void write_line(const CellOf& cell_of) {
    std::string blanks;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Piece piece = cell_of(c);
      const std::size_t width = std::max(widths_[c], display_width(piece.words));
      const std::string cell = padded(piece.words, width, !columns_[c].shown.is_text);
      const std::size_t end = cell.find_last_not_of(' ') + 1;
      if (end > 0) {
        text_ += blanks;
        text_ += TonedText(cell.substr(0, end), piece.tone);
        blanks.clear();
      }
      blanks += cell.substr(end) + std::string(kGap, ' ');
    }
    text_ += "\n";
  }

  const TextColumns& columns_;
  std::vector<std::size_t> widths_;
  std::size_t title_lines_ = 1;
  TonedText text_;
};

TonedText block_text(const TextColumns& columns, std::size_t width) {
  BlockWriter writer(columns, width);
  writer.write_titles();
  for (std::size_t row = 0; row < columns[0].shown.cells.size(); ++row) {
    writer.write_row(row);
  }
  return writer.text();
}

/// Returns whether the first `count` columns are different in all rows.
bool tells_rows_apart(const TextColumns& columns, std::size_t count) {
  const std::size_t rows = columns[0].shown.cells.size();
  std::set<std::vector<std::string>> names;
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::string> name;
    for (std::size_t c = 0; c < count; ++c) {
      name.push_back(columns[c].shown.cells[row]);
    }
    names.insert(std::move(name));
  }
  return names.size() == rows;
}

/// Returns the number of leading columns that name a row: as many as distinguish all rows, or else
/// all that can name one. Blocks of a split table repeat them.
std::size_t key_count(const TextColumns& columns) {
  std::size_t count = 1;
  while (count + 1 < columns.size() && columns[count].shown.names_rows) {
    if (tells_rows_apart(columns, count)) {
      return count;
    }
    ++count;
  }
  return count;
}

}  // namespace

TonedText toned_text_of(const Table& table, std::size_t width) {
  TextColumns columns;
  for (ShownColumn& column : shown_columns(table)) {
    columns.emplace_back(std::move(column));
  }
  if (columns.empty()) {
    return "";
  }
  const std::size_t keys = key_count(columns);
  if (width_of(columns) > width) {
    for (TextColumn& column : columns) {
      column.fold_title();
    }
  }
  TonedText out;
  TextColumns block;
  for (const TextColumn& column : columns) {
    block.push_back(column);
    const std::size_t wide = width_of(block);
    const std::size_t before = wide - column.width();
    const bool has_only_keys = block.size() <= keys + 1;
    const bool can_fold = column.shown.is_text && before + kLeastText <= width;
    if (has_only_keys || wide <= width || can_fold) {
      continue;
    }
    block.pop_back();
    out += block_text(block, width) + "\n";
    block = TextColumns(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(keys));
    block.push_back(column);
  }
  return out + block_text(block, width);
}

std::string text_of(const Table& table, std::size_t width) {
  return toned_text_of(table, width).words();
}

}  // namespace headlab
