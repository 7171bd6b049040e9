// What tasks over language share: how they ask for words; UTF-8, checked once for the whole file,
// so that after that every character is known to be well formed; and how a character is shown.
// Read next: text.cc, which uses it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "headlab/base/settings.h"
#include "headlab/model/config.h"
#include "headlab/tasks/definition.h"

namespace headlab {

/// How words are asked for: hidden ones in an encoder, or each next one in a decoder.
enum class LanguageModel { masked, causal };

constexpr Architecture architecture_of(LanguageModel lm) {
  return lm == LanguageModel::causal ? Architecture::decoder : Architecture::encoder;
}

/// The data by which one chooses, and that which judges in the end: a share of the file, of which
/// each is half, or files of their own.
struct HeldOut {
  double share = 0.1;
  std::string validation, test;  // files; "": a part of the share, or of `validation`

  void bind(Settings& s, const std::string& of_what);
  /// The bytes of `file` and of these two, those that are given. A hash of them all.
  std::array<std::string, 3> read(const std::string& file) const;
  std::string hash(const std::array<std::string, 3>& bytes) const;
};

/// A long row of tokens, in three parts: sequences are windows of it, of which each position
/// predicts the token that follows. Training windows begin anywhere; held-out ones are blocks that
/// do not overlap.
struct TokenRow {
  std::array<std::vector<std::int32_t>, 3> parts = {};  // by split

  /// Takes from the first part what is held out and no file gives, a share of its end, and half of
  /// that to judge. Error, about `file` and its `unit` ("characters"), if a part is too short for a
  /// window of this length.
  void divide(const HeldOut& held_out, Index length, const std::string& file,
              const std::string& unit);
  Index windows(Split split, Index length) const;
  /// Tokens and targets of a sequence.
  void write(Sequence& s) const;
  std::string about(Index length) const;

 private:
  const std::vector<std::int32_t>& part(Split split) const {
    return parts[static_cast<std::size_t>(split)];
  }
};

/// Error that names `source`, what is there and where, if the bytes are not UTF-8.
void require_utf8(std::string_view bytes, std::string_view source);
/// The code points of UTF-8. Error as above.
std::u32string code_points(std::string_view bytes, std::string_view source);

/// A character as a reader can see it: escapes for what does not show, U+2423 for the space.
std::string shown(char32_t point);
/// The same for all characters of a word, but spaces stay spaces.
std::string shown(std::string_view word);

}  // namespace headlab
