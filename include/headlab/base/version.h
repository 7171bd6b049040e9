// The version of headlab, stated once, in CMakeLists.txt. `headlab --version` prints it and every file that a
// run writes carries it, so that a run can be made again with the program that made it.
#pragma once

namespace headlab {

/// "MAJOR.MINOR.PATCH".
const char* version();

}  // namespace headlab
