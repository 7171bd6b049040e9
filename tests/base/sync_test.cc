// Durability of writes: a file is on the disk before its name is, and the name before the call
// returns. Calls of fsync are counted by a function of this program that
// replaces it.
#include <sys/stat.h>
#include <sys/syscall.h>

#include "headlab/core/base/files.h"
#include "headlab/lab/results/stored_json.h"
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

}  // namespace
}  // namespace headlab
