// The sentence about one arm of a comparison, and the guard that refused a stronger one. The table
// of compare.cc shows both. Private to this folder.
// Read next: compare_words.cc.
#pragma once

#include <string>

#include "lab/studies/side_by_side.h"

namespace headlab {

/// Returns the conclusion about an arm. `pairs`: number of compared arms, for which p is corrected.
std::string conclusion_of(const Comparison& one, const Measure& measure, double margin,
                          std::size_t pairs);
/// Returns the name of the guard that refused a conclusion; "" if none did.
std::string guard_of(const Comparison& one, std::size_t pairs);

}  // namespace headlab
