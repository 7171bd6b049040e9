// examples/nano.cc, built by the command of its first comment: no warning, correct gradients, one
// sentence for an argument that it does not understand, and the output that its last comment
// states. Needs g++ and bash; clang++ only checks for warnings.
// Read next: examples/nano.cc, tests/tools/check_example.sh.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "support/folders.h"

namespace headlab { namespace {

const std::string kProject = HEADLAB_SOURCE_DIR;

/// The line "//   g++ ..." of the first comment, without the slashes.
std::string build_command() {
  std::ifstream source(kProject + "/examples/nano.cc");
  for (std::string line; std::getline(source, line) && line.starts_with("//");) {
    if (line.starts_with("//   g++ ")) return line.substr(5);
  }
  return "";
}

class NanoBuild : public testing::Test {
 protected:
  void SetUp() override {
    const std::string examples = kProject + "/examples";
    std::filesystem::create_directory_symlink(examples, folder / "examples");
    ASSERT_FALSE(build_command().empty()) << "no line //   g++ in the first comment";
  }

  /// Runs a command in the folder of the test; its output goes to the file `output` there.
  int run(const std::string& command) {
    const std::string place = folder.path().string();
    return std::system(text("cd '", place, "' && { ", command, "; } >output 2>&1").c_str());
  }
  std::string output() { return read_file(folder / "output"); }

  /// Runs the command of the first comment with another compiler and more options.
  void build(const std::string& compiler, const std::string& options) {
    if (run(compiler + " --version") != 0) GTEST_SKIP() << "there is no " << compiler;
    ASSERT_EQ(run(compiler + build_command().substr(3) + options), 0) << output();
    EXPECT_EQ(output(), "");
  }

  TemporaryFolder folder;
};

TEST_F(NanoBuild, PrintsWhatItsLastCommentSays) {
  if (run("bash -c true") != 0) GTEST_SKIP() << "there is no bash";
  build("g++", " -Wall -Wextra");
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(run("./nano check"), 0) << output();
  for (const std::string argument : {"foo", "''", "-1", "7x", "9999999999", "7 8"}) {
    EXPECT_NE(run("./nano " + argument), 0);
    EXPECT_TRUE(output().starts_with("cannot use '")) << output();
    EXPECT_EQ(std::ranges::count(output(), '\n'), 1) << output();
  }
  const std::string check = text("bash '", kProject, "/tests/tools/check_example.sh'");
  EXPECT_EQ(run(check + " examples/nano.cc ./nano"), 0) << output();
}

TEST_F(NanoBuild, CompilesWithClangWithoutWarnings) {
  build("clang++", " -Wall -Wextra -fsyntax-only");
}

}  // namespace
}  // namespace headlab
