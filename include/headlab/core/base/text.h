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

/// Bytes that Windows programs write before UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

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

}  // namespace headlab
