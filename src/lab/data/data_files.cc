// The search for data files (data_files.h). CMakeLists.txt defines two folders for this file alone:
// HEADLAB_DATASETS is the folder in the source tree, which exists during development;
// HEADLAB_INSTALLED_DATASETS is the folder that `cmake --install` fills. Read next: file.cc.
#include "headlab/lab/data/data_files.h"

#include <algorithm>
#include <mutex>
#include <system_error>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"

namespace headlab {
namespace {

/// Folders above the opened runs, with the mutex that protects them.
struct DataFolders {
  std::mutex mutex;
  std::vector<std::filesystem::path> folders;
};

DataFolders& data_folders() {
  static DataFolders all;
  return all;
}

/// Returns the error about a data file that is in none of the folders where it may be.
Error missing_data(const std::string& path, const std::vector<std::filesystem::path>& folders) {
  std::error_code failed;
  const std::string here = std::filesystem::current_path(failed).string();
  const std::vector<std::string> near =
      mapped(folders, [](const auto& one) { return one.string(); });
  return Error(text("cannot read '", path, "': it is neither in ", here,
                    " nor in a folder above the run: ", join(near, ", ")),
               "move the file to one of these folders, at the same relative path");
}

}  // namespace

void look_for_data_near(const std::filesystem::path& run) {
  constexpr std::size_t kMostLevels = 4;
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::absolute(run, failed).lexically_normal();
  if (failed) return;
  // A path written as "runs/mine/" ends in an empty name.
  if (!folder.has_filename()) folder = folder.parent_path();
  std::vector<std::filesystem::path> above;
  while (above.size() < kMostLevels && folder.has_relative_path()) {
    folder = folder.parent_path();
    above.push_back(folder);
  }
  const std::lock_guard lock(data_folders().mutex);
  std::vector<std::filesystem::path>& all = data_folders().folders;
  std::erase_if(all, [&](const auto& known) { return std::ranges::count(above, known) > 0; });
  all.insert(all.begin(), above.begin(), above.end());
}

std::filesystem::path shipped_file(const std::string& path) {
  const std::string prefix = "datasets/";
  if (is_there(path) || std::filesystem::path(path).is_absolute()) return path;
  std::vector<std::filesystem::path> folders;
  {
    const std::lock_guard lock(data_folders().mutex);
    folders = data_folders().folders;
  }
  for (const std::filesystem::path& folder : folders) {
    if (is_there(folder / path)) return folder / path;
  }
  if (!path.starts_with(prefix)) {
    if (!folders.empty()) throw missing_data(path, folders);
    return path;
  }
  for (const std::filesystem::path folder : {HEADLAB_DATASETS, HEADLAB_INSTALLED_DATASETS}) {
    const std::filesystem::path found = folder / path.substr(prefix.size());
    if (is_there(found)) return found;
  }
  return path;
}

}  // namespace headlab
