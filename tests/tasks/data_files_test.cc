// Data files that ship with headlab are found from anywhere; others are left to their reader.
#include "headlab/lab/data/data_files.h"

#include "headlab/core/base/files.h"
#include "support/folders.h"

namespace headlab { namespace {

class Shipped : public testing::Test {
 protected:
  Shipped() { std::filesystem::current_path(folder_.path()); }
  ~Shipped() override { std::filesystem::current_path(before_); }

  std::filesystem::path before_ = std::filesystem::current_path();
  TemporaryFolder folder_;
};

TEST_F(Shipped, IsFoundFromAnyFolder) {
  EXPECT_EQ(read_file(shipped_file("datasets/fables.txt")),
            read_file(std::string(HEADLAB_SOURCE_DIR) + "/datasets/fables.txt"));
}

TEST_F(Shipped, LocalFileComesFirst) {
  std::filesystem::create_directory("datasets");
  write_file("datasets/fables.txt", "mine");
  EXPECT_EQ(read_file(shipped_file("datasets/fables.txt")), "mine");
}

TEST_F(Shipped, LeavesOtherPathsAsTheyAre) {
  for (const char* path : {"datasets/no such file", "fables.txt", "/nowhere/fables.txt", ""})
    EXPECT_EQ(shipped_file(path), path);
}

}  // namespace
}  // namespace headlab
