// The columns of a comparison of two arms on logarithms, which sweeps and curves of several runs
// show. Private to the laboratory.
// Read next: arms.cc.
#pragma once

#include <string>

#include "headlab/lab/results/arms.h"
#include "headlab/lab/results/fields.h"

namespace headlab {

/// Returns the columns at `key`, the first of which is a ratio called `title`.
Fields<Compared> ratio_fields(const std::string& key, const std::string& title);

}  // namespace headlab
