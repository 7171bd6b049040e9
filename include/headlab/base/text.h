// Texts in pieces and in characters, and numbers as text and back. Numbers are the same in any
// locale: a program that calls setlocale still writes 0.5 and not 0,5. What joins texts, text(...)
// and join, stands in error.h, because messages need it first. Read next: json.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headlab {

/// The pieces between separators, empty ones too: "a,,b" has three, and "" has one. They are views
/// of the whole, which has to live as long.
std::vector<std::string_view> split(std::string_view whole, char separator);

/// The text with every control character as \xNN, so that a name from a file can neither steer a
/// terminal nor make a second row. With `lines`, newlines and tabs stay; colours never do, because
/// they can hide text.
std::string harmless(std::string_view text, bool lines = false);

/// Adds a code point as one to four bytes of UTF-8.
void append_utf8(std::string& out, char32_t point);

/// The shortest decimal that reads back as `value`; "null" if it is not finite. Whole numbers up to
/// 2^53 have no exponent and no point, as sizes in files must.
std::string number_text(double value);

/// The whole of `digits` as a number, or false. Accepts what JSON accepts and a double can hold:
/// 1e999 is refused, 1e-999 is 0.
bool parse_number(std::string_view digits, double& value);
/// Length of the longest prefix of `text` that is a JSON number; 0 if none.
std::size_t number_length(std::string_view text);

/// `digits` decimals; "-" if not finite.
std::string fixed(double value, int digits);
/// 4 significant digits, as short as possible: 0.0005, 1.234, 1.2e-06.
std::string significant(double value);
/// 2 significant digits; 0 of what is not above 0.
std::string two_digits(double value);
/// The same with its sign: +0.0005, -1.234.
std::string signed_text(double value);
/// The numbers from 0 to count - 1, as labels.
std::vector<std::string> counted(std::size_t count);
/// 1050624 as 1,050,624.
std::string grouped(std::int64_t value);
/// A line without the blanks at its end, and with its newline.
std::string trimmed_line(std::string line);
/// Words in lines of at most `columns`, each after the first begun with `indent`.
std::string wrapped(const std::string& words, const std::string& indent = "",
                    std::size_t columns = 100);
/// The lines of a text whose last one ends as well.
std::vector<std::string> lines_of(const std::string& folded);
/// A word as a shell reads it: quoted if it holds anything but letters, digits and -_=+:,./
std::string shell_word(const std::string& word);
/// Text as HTML shows it: & < > " ' are written as entities.
std::string html_text(std::string_view text);
/// The number of columns that UTF-8 text takes on a terminal: two for a wide character, such as a
/// Chinese one, and none for a combining mark.
std::size_t display_width(std::string_view text);
/// The same for one code point.
std::size_t character_width(std::string_view character);
/// The code points of UTF-8 text, each as the bytes that it has there.
std::vector<std::string> characters_of(std::string_view text);
/// `text` padded with blanks to `width` columns, at its end or its beginning, or cut to it.
std::string padded(std::string_view text, std::size_t width, bool to_the_right = false);

}  // namespace headlab
