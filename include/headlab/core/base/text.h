// Strings: splitting, characters, and conversion of numbers to text and back. Numbers do not depend
// on the locale: after setlocale the program still writes 0.5 and not 0,5. The functions text(...)
// and join are in error.h, because messages need them first. Read next: json.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headlab {

/// Returns the pieces between separators, including empty ones: "a,,b" has three, and "" has one.
/// They are views of the whole, which must outlive them.
std::vector<std::string_view> split(std::string_view whole, char separator);

/// Returns the text with every control character as \xNN, so that a name from a file can neither
/// control a terminal nor start a new row. With `lines`, newlines and tabs stay; colour codes never
/// do, because they can hide text.
std::string harmless(std::string_view text, bool lines = false);

/// Appends a code point as one to four bytes of UTF-8.
void append_utf8(std::string& out, char32_t point);

/// Returns the shortest decimal that reads back as `value`; "null" if it is not finite. Whole
/// numbers up to 2^53 have no exponent and no point, as sizes in files require.
std::string number_text(double value);

/// Parses all of `digits` as a number; returns false if that is impossible. Accepts JSON numbers in
/// the range of double: 1e999 is refused, 1e-999 is 0.
bool parse_number(std::string_view digits, double& value);
/// Returns the length of the longest prefix of `text` that is a JSON number; 0 if there is none.
std::size_t number_length(std::string_view text);

/// Returns the value with `digits` decimals; "-" if it is not finite.
std::string fixed(double value, int digits);
/// Returns the value with 4 significant digits, as short as possible: 0.0005, 1.234, 1.2e-06.
std::string significant(double value);
/// Returns the value with 2 significant digits; "0" unless it is above 0.
std::string two_digits(double value);
/// Returns `significant` with a sign: +0.0005, -1.234.
std::string signed_text(double value);
/// Returns the numbers from 0 to count - 1 as labels.
std::vector<std::string> counted(std::size_t count);
/// Returns the value with commas: 1050624 as 1,050,624.
std::string grouped(std::int64_t value);
/// Returns a line without trailing blanks, with its newline.
std::string trimmed_line(std::string line);
/// Wraps words into lines of at most `columns`; each line after the first begins with `indent`.
std::string wrapped(const std::string& words, const std::string& indent = "",
                    std::size_t columns = 100);
/// Returns the lines of a text whose last line also ends with a newline.
std::vector<std::string> lines_of(const std::string& folded);
/// Returns a word in shell syntax: quoted if it contains anything other than letters, digits and
/// -_=+:,./
std::string shell_word(const std::string& word);
/// Returns text for HTML, with & < > " ' as entities.
std::string html_text(std::string_view text);
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
