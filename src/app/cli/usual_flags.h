// The flags that the short help of `train` and `sweep` shows, each with a line that says when to
// change it. All others are in --help all. To show another flag, add a row in usual_flags.cc.
// Private to this layer. Read next: flags.cc.
#pragma once

#include <vector>

#include "headlab/app/cli/arguments.h"

namespace headlab::cli {

std::vector<Flags::Usual> usual_flags_of_train();
std::vector<Flags::Usual> usual_flags_of_sweep();

}  // namespace headlab::cli
