// The dictionary of `explain`: words that a newcomer meets, each with one definition. Words of the
// lessons are in src/app/report/page/lessons/lessons.html; columns, scores, methods and flags
// explain themselves in their tables. Read next: explain.cc.
#pragma once

#include <span>

namespace headlab::cli {

struct Term {
  const char* words;       // with commas between words for the same thing
  const char* definition;  // whole sentences
  const char* see;         // a command that shows it, without the program's name; "" if none
};

std::span<const Term> dictionary();

}  // namespace headlab::cli
