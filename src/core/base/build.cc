// Version and build. CMakeLists.txt defines them for this file alone (the version comes from its
// `project` line), so a new version compiles one file, and no object of a library user depends on
// it.
#include "headlab/core/base/build.h"

namespace headlab {

const char* version() { return HEADLAB_VERSION_TEXT; }
const char* build() { return HEADLAB_BUILD_TEXT; }

}  // namespace headlab
