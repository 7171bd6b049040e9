// examples/nano.cc, built by the command of its first comment with each compiler that is installed:
// no warning, the output that its last comment states, and correct gradients. Needs bash.
// Read next: examples/nano.cc, tests/tools/check_example.sh.
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

class NanoBuild : public testing::TestWithParam<std::string> {
 protected:
  /// Runs a command in the folder of the test; its output goes to the file `output` there.
  int run(const std::string& command) {
    const std::string place = folder.path().string();
    return std::system(text("cd '", place, "' && { ", command, "; } >output 2>&1").c_str());
  }
  std::string output() { return read_file(folder / "output"); }

  TemporaryFolder folder;
};

TEST_P(NanoBuild, PrintsWhatItsLastCommentSays) {
  const std::string compiler = GetParam();
  if (run(compiler + " --version") != 0) GTEST_SKIP() << "there is no " << compiler;
  if (run("bash -c true") != 0) GTEST_SKIP() << "there is no bash";
  const std::string command = build_command();
  ASSERT_FALSE(command.empty()) << "no line //   g++ in the first comment";
  std::filesystem::create_directory_symlink(kProject + "/examples", folder / "examples");
  const std::string all = " -Wall -Wextra";
  ASSERT_EQ(run(compiler + command.substr(3) + all), 0) << output();
  EXPECT_EQ(output(), "");
  EXPECT_EQ(run("./nano check"), 0) << output();
  const std::string check = text("bash '", kProject, "/tests/tools/check_example.sh'");
  EXPECT_EQ(run(check + " examples/nano.cc ./nano"), 0) << output();
}

INSTANTIATE_TEST_SUITE_P(Compilers, NanoBuild, testing::Values("g++", "clang++"),
                         [](const auto& test) { return test.param == "g++" ? "Gnu" : "Clang"; });

}  // namespace
}  // namespace headlab
