// Colours of text on a terminal. The text keeps its words and its layout: escape sequences are
// added to labels, marks and cells with a tone. Used where output is printed, in terminal.cc. Read
// next: colour.cc.
#pragma once

#include <string>

#include "headlab/app/report/toned_text.h"

namespace headlab::cli {

/// Returns whether the user accepts colours: NO_COLOR is not set, or empty.
bool wants_colour();
/// Returns the text with colours.
std::string coloured(const TonedText& shown);

}  // namespace headlab::cli
