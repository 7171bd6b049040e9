// Text for readers: numbers as tables show them, lines of at most some columns, words in the syntax
// of a shell or of HTML, and the width of text in a terminal. Training needs none of it: what files
// and messages of the framework need is in headlab/core/base/text.h. Read next: table.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headlab {

/// Returns the value with 2 significant digits; "0" unless it is above 0.
std::string two_digits(double value);
/// Returns `significant` with a sign: +0.0005, -1.234.
std::string signed_text(double value);
/// Returns the value with commas: 1050624 as 1,050,624.
std::string grouped(std::int64_t value);
/// Returns the numbers from 0 to count - 1 as labels.
std::vector<std::string> counted(std::size_t count);
/// Returns a line without trailing blanks, with its newline.
std::string trimmed_line(std::string line);
/// Wraps words into lines of at most `columns`; each line after the first begins with `indent`.
std::string wrapped(const std::string& words, const std::string& indent = "",
                    std::size_t columns = 100);
/// Splits a text into lines. The newline at its end starts no further line.
std::vector<std::string> lines_of(const std::string& folded);
/// Returns a word in shell syntax: quoted if it contains anything other than letters, digits and
/// -_=+:,./
std::string shell_word(const std::string& word);
/// Returns text for HTML, with & < > " ' as entities.
std::string html_text(std::string_view text);
/// Returns the bytes of the first character of a text; none if they are not UTF-8.
std::string_view first_character(std::string_view text);
/// Returns the code point of one character of UTF-8.
char32_t code_point(std::string_view character);
/// Returns whether a character steers a terminal or the direction of the text: U+0000 to U+001F,
/// U+007F to U+009F, and the signs of bidirectional text.
bool is_steering(char32_t point);

/// Returns the text with the bytes of every steering character, and all that are not UTF-8, as
/// \xNN, so that a name from a file can neither control a terminal nor start a new row, nor show
/// its letters in another order. The result is UTF-8. With `lines`, newlines and tabs stay; colour
/// codes never do, because they can hide text.
std::string harmless(std::string_view text, bool lines = false);
/// Prints a line "note: ..." to stderr, made harmless: information for the user that is not an
/// error.
void tell_user(const std::string& note);
/// Returns the number of terminal columns of UTF-8 text: two for a wide character, such as a
/// Chinese one, and none for a combining mark.
std::size_t display_width(std::string_view text);
/// Returns the number of terminal columns of one code point.
std::size_t character_width(std::string_view character);
/// Returns the code points of UTF-8 text, each as its bytes.
std::vector<std::string> characters_of(std::string_view text);
/// Returns `text` padded with blanks to `width` columns, at its end or its beginning, or cut to it.
std::string padded(std::string_view text, std::size_t width, bool to_the_right = false);

}  // namespace headlab
