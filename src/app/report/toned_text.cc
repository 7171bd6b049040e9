// Concatenation of toned text. Neighbours with the same tone become one piece, so that a line of
// plain text is never split: labels are found at the start of a line.
// Read next: text_table.cc, which gives cells their tones.
#include "headlab/app/report/toned_text.h"

namespace headlab {

TonedText& TonedText::operator+=(const TonedText& more) {
  for (const Piece& piece : more.pieces_) {
    const bool continues = !pieces_.empty() && pieces_.back().tone == piece.tone;
    if (continues) {
      pieces_.back().words += piece.words;
    } else {
      pieces_.push_back(piece);
    }
  }
  return *this;
}

std::string TonedText::words() const {
  std::string all;
  for (const Piece& piece : pieces_) all += piece.words;
  return all;
}

}  // namespace headlab
