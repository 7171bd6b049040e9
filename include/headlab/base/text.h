// Texts in pieces, and in characters. What joins texts, text(...) and join, stands in error.h,
// because messages need it first.
// Read next: error.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headlab {

/// The pieces between separators, empty ones too: "a,,b" has three, and "" has one. They are views
/// of the whole, which has to live as long.
std::vector<std::string_view> split(std::string_view whole, char separator);

/// Adds a code point as one to four bytes of UTF-8.
void append_utf8(std::string& out, char32_t point);

}  // namespace headlab
