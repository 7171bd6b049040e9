// The version of headlab. `headlab --version` prints it and every
// file that a run writes carries it, so that a run can be made again with the program that made it.
// It is stated in CMakeLists.txt alone. Read next: error.h.
#pragma once

namespace headlab {

/// "MAJOR.MINOR.PATCH".
const char* version();

}  // namespace headlab
