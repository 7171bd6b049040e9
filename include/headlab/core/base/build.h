// Facts known when the library is built: its version, the compiler, build kind and processor.
// `headlab --version` prints both. Every file that a run writes contains the version, so that a run
// can be reproduced with the same program. Read next: error.h.
#pragma once

namespace headlab {

/// Returns "MAJOR.MINOR.PATCH".
const char* version();
/// Returns compiler, build kind and processor: "g++ 12.2.0, Release, for rocketlake, tuned for
/// rocketlake". Speed and the last bits of results depend on it.
const char* build();

}  // namespace headlab
