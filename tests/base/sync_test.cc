// Durability of writes: a file is on the disk before its name is, and the name before the call
// returns. Calls of fsync are counted by a function of this program that
// replaces it.
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>

#include "headlab/core/base/files.h"
#include "support/folders.h"

namespace {

std::string synced;        // a letter for each call: f a file, d a directory
bool can_exchange = true;  // whether the file system exchanges two names in one call

}  // namespace

extern "C" int fsync(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) == 0) synced += S_ISDIR(status.st_mode) ? 'd' : 'f';
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) {
  if (can_exchange)
    return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  errno = EINVAL;
  return -1;
}

namespace headlab { namespace {

class Synced : public testing::Test {
 protected:
  Synced() { synced.clear(); }
  ~Synced() override { can_exchange = true; }
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

TEST_F(Synced, IsTheDirectoryAlsoWhereNamesCannotBeExchangedAtOnce) {
  for (const char* name : {"a", "b"}) {
    make_directories(folder_ / name);
    write_file(folder_ / name / "said", name);
  }
  synced.clear();
  can_exchange = false;
  exchange_directories(folder_ / "a", folder_ / "b");
  EXPECT_EQ(synced, "d");
  EXPECT_EQ(read_file(folder_ / "a" / "said"), "b");
  EXPECT_EQ(read_file(folder_ / "b" / "said"), "a");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b.aside"));
}

}  // namespace
}  // namespace headlab
