// Numbers as text and back, the same in any locale: a program that calls setlocale still writes 0.5
// and not 0,5. Uses to_chars and from_chars where the standard library has them for floating point
// (libc++ lacks from_chars for long), else the functions in `detail`, which give the same results.
// Read next: json.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headlab {

/// The shortest decimal that reads back as `value`; "null" if it is not finite. Whole numbers up to
/// 2^53 have no exponent and no point, as sizes in files must.
std::string number_text(double value);

/// The whole of `digits` as a number, or false. Accepts what JSON accepts and a double can hold:
/// 1e999 is refused, 1e-999 is 0.
bool parse_number(std::string_view digits, double& value);

namespace detail {

/// Length of the longest prefix of `text` that is a JSON number; 0 if none.
std::size_t number_length(std::string_view text);

/// number_text for a finite number that is not whole, and the conversion of parse_number, with
/// nothing but streams and strtod_l.
std::string shortest_portable(double value);
bool convert_portable(std::string_view digits, double& value);

}  // namespace detail

}  // namespace headlab
