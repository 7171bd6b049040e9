// The version. HEADLAB_VERSION_TEXT comes from the `project` line of CMakeLists.txt, the one place
// that states it, and is defined for this file alone: a new version compiles one file, and no
// object of a library user depends on it.
#include "headlab/base/version.h"

namespace headlab {

const char* version() { return HEADLAB_VERSION_TEXT; }

}  // namespace headlab
