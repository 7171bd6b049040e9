// Colours of text on a terminal. The text keeps its words and its layout: escape sequences are
// added to labels, conclusions and marks. Used where output is printed, in program.cc and
// terminal.cc. Read next: colour.cc.
#pragma once

#include <string>

namespace headlab::cli {

/// Returns whether the user accepts colours: NO_COLOR is not set, or empty.
bool wants_colour();
/// Returns the text with colours.
std::string coloured(const std::string& shown);

}  // namespace headlab::cli
