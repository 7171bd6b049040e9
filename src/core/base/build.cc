// The texts and folders come from CMakeLists.txt (the version from its `project` line, the one
// place that states it) and are defined for this file alone: a new version compiles one file, and
// no object of a library user depends on it. HEADLAB_DATASETS is the folder of the sources, which
// is there while one works on headlab, HEADLAB_INSTALLED_DATASETS the one that `cmake --install`
// fills.
#include "headlab/base/build.h"
#include "headlab/base/files.h"

namespace headlab {

const char* version() { return HEADLAB_VERSION_TEXT; }
const char* build() { return HEADLAB_BUILD_TEXT; }

std::filesystem::path shipped_file(const std::string& path) {
  const std::string prefix = "datasets/";
  if (is_there(path) || !path.starts_with(prefix)) return path;
  for (const std::filesystem::path folder : {HEADLAB_DATASETS, HEADLAB_INSTALLED_DATASETS}) {
    const std::filesystem::path found = folder / path.substr(prefix.size());
    if (is_there(found)) return found;
  }
  return path;
}

}  // namespace headlab
