// Text for a terminal whose parts have tones. Tones stay apart from the words until the words are
// printed, so that control characters of data are made harmless before colours are added. Read
// next: src/app/cli/colour.cc.
#pragma once

#include <concepts>
#include <string>
#include <vector>

#include "headlab/lab/results/table.h"

namespace headlab {

class TonedText {
 public:
  struct Piece {
    std::string words{};
    Tone tone = Tone::none;
  };

  TonedText() = default;
  template <std::convertible_to<std::string> Words>
  TonedText(Words words, Tone tone = Tone::none) : pieces_{{std::string(words), tone}} {}

  TonedText& operator+=(const TonedText& more);
  friend TonedText operator+(TonedText first, const TonedText& more) {
    first += more;
    return first;
  }

  /// Returns the text in pieces, of which no two with the same tone follow each other.
  const std::vector<Piece>& pieces() const { return pieces_; }
  /// Returns the text without tones.
  std::string words() const;
  bool empty() const { return words().empty(); }

 private:
  std::vector<Piece> pieces_;
};

}  // namespace headlab
