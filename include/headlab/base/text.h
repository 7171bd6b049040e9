// Texts in pieces and in characters, and numbers as text and back. Numbers are the same in any
// locale: a program that calls setlocale still writes 0.5 and not 0,5. What joins texts, text(...)
// and join, stands in error.h, because messages need it first. Read next: json.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headlab {

/// The pieces between separators, empty ones too: "a,,b" has three, and "" has one. They are views
/// of the whole, which has to live as long.
std::vector<std::string_view> split(std::string_view whole, char separator);

/// The text with every control character as \xNN, so that a name from a file can neither steer a
/// terminal nor make a second row. Where `lines`, newlines, tabs and colours (ESC [ ... m) stay.
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

}  // namespace headlab
