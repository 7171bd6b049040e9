// An exchange of two folders: in one call or in three renames, and on the disk before it returns.
// Calls of fsync and renameat2 are replaced by functions of this program. Read next:
// src/lab/runs/exchange.cc.
#include "lab/runs/exchange.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "support/folders.h"
#include "train/exchange_error.h"

namespace {

std::string synced;  // a letter for each call: f a file, d a directory

}  // namespace

extern "C" int fsync(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) == 0) synced += S_ISDIR(status.st_mode) ? 'd' : 'f';
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) {
  if (headlab::exchange_error == 0)
    return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  errno = headlab::exchange_error;
  return -1;
}

namespace headlab { namespace {

namespace fs = std::filesystem;

class Exchange : public testing::Test {
 protected:
  Exchange() { synced.clear(); }
  ~Exchange() override { exchange_error = 0; }
  TemporaryFolder folder_;
};

TEST_F(Exchange, SwapsTwoFolders) {
  for (const char* name : {"a", "b"}) {
    make_directories(folder_ / name);
    write_file(folder_ / name / "file", name);
  }
  exchange_directories(folder_ / "a", folder_ / "b");
  EXPECT_EQ(read_file(folder_ / "a" / "file"), "b");
  EXPECT_EQ(read_file(folder_ / "b" / "file"), "a");
  EXPECT_EQ(std::ranges::distance(fs::directory_iterator(folder_.path())), 2);
  EXPECT_THROW(exchange_directories(folder_ / "a", folder_ / "c"), Error);
  EXPECT_EQ(read_file(folder_ / "a" / "file"), "b");
}

TEST_F(Exchange, SyncsTheParentFolder) {
  make_directories(folder_ / "a");
  make_directories(folder_ / "b");
  exchange_directories(folder_ / "a", folder_ / "b");
  EXPECT_EQ(synced, "d");
}

TEST_F(Exchange, SyncsTheParentFolderAfterThreeRenames) {
  for (const char* name : {"a", "b"}) {
    make_directories(folder_ / name);
    write_file(folder_ / name / "said", name);
  }
  synced.clear();
  exchange_error = EINVAL;
  exchange_directories(folder_ / "a", folder_ / "b");
  EXPECT_EQ(synced, "d");
  EXPECT_EQ(read_file(folder_ / "a" / "said"), "b");
  EXPECT_EQ(read_file(folder_ / "b" / "said"), "a");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.being-aside"));
}

}  // namespace
}  // namespace headlab
