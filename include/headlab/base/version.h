// The version of headlab. `headlab --version` prints it and every
// file that a run writes carries it, so that a run can be made again with the program that made it.
// It is stated in CMakeLists.txt alone. Read next: error.h.
#pragma once

namespace headlab {

/// "MAJOR.MINOR.PATCH".
const char* version();
/// Compiler, kind of build and processor: "g++ 12.2.0, Release, for rocketlake, tuned for
/// rocketlake". Speed and the last bits of results depend on it.
const char* build();

}  // namespace headlab
