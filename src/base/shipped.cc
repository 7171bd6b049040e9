// HEADLAB_DATASETS and HEADLAB_INSTALLED_DATASETS come from CMakeLists.txt and are defined for this
// file alone: the folder of the sources, which is there while one works on headlab, and the one
// that `cmake --install` fills.
#include "headlab/base/shipped.h"

#include <initializer_list>
#include <system_error>

namespace headlab {

std::filesystem::path shipped_file(const std::string& path) {
  const std::string prefix = "datasets/";
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) || !path.starts_with(prefix)) return path;
  for (const std::filesystem::path folder : {HEADLAB_DATASETS, HEADLAB_INSTALLED_DATASETS}) {
    const std::filesystem::path found = folder / path.substr(prefix.size());
    if (std::filesystem::exists(found, ignored)) return found;
  }
  return path;
}

}  // namespace headlab
