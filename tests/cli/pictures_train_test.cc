// The pictures of README, made again by examples/pictures/make.sh. The same program makes the same
// bytes; another one (another compiler or processor) trains models whose last bits differ, so of
// its pictures only what they are about is compared.
#include "cli/program.h"

namespace headlab::cli { namespace {

const fs::path kPictures = fs::path(HEADLAB_SOURCE_DIR) / "examples" / "pictures";

/// Title and origin of a picture.
std::string about(const std::string& svg) {
  const auto between = [&](const std::string& open, const std::string& close) {
    const std::size_t at = svg.find(open);
    return svg.substr(at, svg.find(close) - at);
  };
  return between("<title>", "</title>") + between("<metadata>", "</metadata>");
}

TEST_F(Program, MakesThePicturesOfTheReadmeAgain) {
  const std::string script = (kPictures / "make.sh").string();
  const std::string command = "bash '" + script + "' '" HEADLAB_PROGRAM "' '" +
                              folder.path().string() + "' >'" + (folder / "log").string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << file("log");
  std::size_t pictures = 0;
  const bool same_program = file("made_with.txt") == read_file(kPictures / "made_with.txt");
  for (const auto& entry : fs::directory_iterator(kPictures)) {
    if (entry.path().extension() != ".svg") continue;
    const std::string name = entry.path().filename().string(), kept = read_file(entry.path());
    if (same_program) {
      EXPECT_TRUE(file(name) == kept) << name << ": run " << script;
    } else {
      EXPECT_EQ(about(file(name)), about(kept)) << name;
    }
    ++pictures;
  }
  EXPECT_EQ(pictures, 6u);
}

}  // namespace
}  // namespace headlab::cli
