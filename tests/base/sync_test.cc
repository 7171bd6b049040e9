// What is written lasts: a file is on the disk before its name is, and the name before the call
// returns. The system's fsync is watched: this program's own stands in front of it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "headlab/base/files.h"
#include "support/folders.h"

namespace {

std::string synced;  // a letter for each call: f a file, d a directory

}  // namespace

extern "C" int fsync(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) == 0) synced += S_ISDIR(status.st_mode) ? 'd' : 'f';
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace headlab { namespace {

class Synced : public testing::Test {
 protected:
  Synced() { synced.clear(); }
  TemporaryFolder folder_;
};

TEST_F(Synced, IsAFileBeforeItsNameAndThenItsDirectory) {
  write_file(folder_ / "a", "one");
  EXPECT_EQ(synced, "fd");
}

TEST_F(Synced, IsALogAfterEachLine) {
  append_line(folder_ / "a", "one");
  append_line(folder_ / "a", "two");
  EXPECT_EQ(synced, "ff");
}

TEST_F(Synced, IsTheDirectoryInWhichTwoWereExchanged) {
  make_directories(folder_ / "a");
  make_directories(folder_ / "b");
  exchange_directories(folder_ / "a", folder_ / "b");
  EXPECT_EQ(synced, "d");
}

}  // namespace
}  // namespace headlab
