// Golden files: texts that the program is expected to write, one file each, which people can read
// and review. expect_golden("cli/help_train.txt", text) compares with
// tests/cli/golden/help_train.txt and shows a diff; with HEADLAB_UPDATE_GOLDEN=1 it writes the file
// instead. Golden tensors of PyTorch are something else: golden.h.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "support/text_diff.h"

namespace headlab {

/// "cli/help_train.txt" is tests/cli/golden/help_train.txt, relative to the project.
inline std::string golden_path(const std::string& name) {
  const std::size_t slash = name.find('/');
  require(slash != name.npos, "golden file '", name, "' has no layer: name it LAYER/NAME.EXT");
  return text("tests/", name.substr(0, slash), "/golden/", name.substr(slash + 1));
}

/// Compares `output` with a golden file: "" if they are the same, else a message with a diff.
/// `folder` is that of the project; `name` as in golden_path().
inline std::string golden_problem(const std::filesystem::path& folder, const std::string& name,
                                  const std::string& output) {
  const std::string path = golden_path(name);
  const std::string layer = name.substr(0, name.find('/'));
  const std::string command = text("HEADLAB_UPDATE_GOLDEN=1 ctest -R test_", layer);
  if (!std::filesystem::exists(folder / path)) {
    return text("the golden file ", path, " is missing. Write it with `", command,
                "`, read it and commit it.\n");
  }
  const std::string golden = read_file(folder / path);
  if (golden == output) {
    return "";
  }
  return text(path, " differs from the output (- golden file, + output):\n",
              unified_diff(golden, output), "If this change is intended, write the file with `",
              command, "` and review it with `git diff`.\n");
}

/// Writes a golden file if it is missing or differs; returns whether it did.
inline bool update_golden(const std::filesystem::path& folder, const std::string& name,
                          const std::string& output) {
  if (golden_problem(folder, name, output).empty()) {
    return false;
  }
  const std::filesystem::path file = folder / golden_path(name);
  std::filesystem::create_directories(file.parent_path());
  write_file(file, output);
  return true;
}

/// Whether golden files are written instead of compared.
inline bool updates_golden_files() {
  const char* wish = std::getenv("HEADLAB_UPDATE_GOLDEN");
  return wish != nullptr && std::string_view(wish) == "1";
}

/// Fails with a diff if `output` is not what the golden file `name` holds.
inline void expect_golden(const std::string& name, const std::string& output) {
  const std::filesystem::path project = HEADLAB_SOURCE_DIR;
  if (!updates_golden_files()) {
    const std::string problem = golden_problem(project, name, output);
    if (!problem.empty()) {
      ADD_FAILURE() << problem;
    }
  } else if (update_golden(project, name, output)) {
    std::cout << "wrote " << golden_path(name) << "\n";
  }
}

}  // namespace headlab
