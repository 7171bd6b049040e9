// Functions shared by language tasks: how words are predicted; UTF-8, checked once for the whole
// file, so that later code can rely on well-formed characters; and the display of characters. Read
// next: text.cc, which uses it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "headlab/core/base/settings.h"
#include "headlab/core/model/config.h"
#include "headlab/core/tasks/definition.h"

namespace headlab {

/// Prediction of words: masked ones in an encoder, or each next one in a decoder.
enum class LanguageModel { masked, causal };

constexpr Architecture architecture_of(LanguageModel lm) {
  return lm == LanguageModel::causal ? Architecture::decoder : Architecture::encoder;
}

/// Data for choosing (validation) and for the final evaluation (test): a share of the file, half
/// for each, or separate files.
struct HeldOut {
  double share = 0.1;
  std::string validation, test;  // files; "": part of the share, or of `validation`

  void bind(Settings& s, const std::string& of_what);
  /// Returns the bytes of `file` and of these two, if given, and a hash of them all.
  std::array<std::string, 3> read(const std::string& file) const;
  std::string hash(const std::array<std::string, 3>& bytes) const;
};

/// A long row of tokens in three parts. A sequence is a window of it, in which each position
/// predicts the next token. Training windows begin anywhere; held-out ones are blocks that do not
/// overlap.
struct TokenRow {
  std::array<std::vector<std::int32_t>, 3> parts = {};  // by split

  /// Moves held-out tokens from the end of the first part, if no file provides them: a share for
  /// validation, and half of it for test. Error, about `file` and its `unit` ("characters"), if a
  /// part is too short for a window of this length.
  void divide(const HeldOut& held_out, Index length, const std::string& file,
              const std::string& unit);
  Index windows(Split split, Index length) const;
  /// Writes tokens and targets of a sequence.
  void write(Sequence& s) const;
  std::string about(Index length) const;

 private:
  const std::vector<std::int32_t>& part(Split split) const {
    return parts[static_cast<std::size_t>(split)];
  }
};

/// Throws an Error if the bytes are not UTF-8; it names `source`, the bytes and their position.
void require_utf8(std::string_view bytes, std::string_view source);
/// Returns the code points of UTF-8. Error as for require_utf8.
std::u32string code_points(std::string_view bytes, std::string_view source);

/// Returns a character in visible form: escapes for invisible ones, U+2423 for the space.
std::string shown(char32_t point);
/// Returns all characters of a word in visible form, except that spaces stay spaces.
std::string shown(std::string_view word);

}  // namespace headlab
