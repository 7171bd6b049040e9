// The version and the build. Both texts come from CMakeLists.txt (the version from its `project`
// line, the one place that states it) and are defined for this file alone: a new version compiles
// one file, and no object of a library user depends on it.
#include "headlab/base/version.h"

namespace headlab {

const char* version() { return HEADLAB_VERSION_TEXT; }
const char* build() { return HEADLAB_BUILD_TEXT; }

}  // namespace headlab
