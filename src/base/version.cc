// The version. HEADLAB_VERSION_TEXT is defined by CMakeLists.txt for this file alone, so that a new version
// compiles one file. See headlab/base/version.h.

#include "headlab/base/version.h"

namespace headlab {

const char* version() { return HEADLAB_VERSION_TEXT; }

}  // namespace headlab
