// Durability of writes: a file is on the disk before its name is, and the name before the call
// returns. Calls of fsync are counted by a function of this program that
// replaces it.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/lab/results/stored_json.h"
#include "support/folders.h"

namespace {

std::string synced;           // a letter for each call: f a file, d a directory
int interrupted = 0;          // how many of the next calls of fsync and close a signal interrupts
bool renames = true;          // whether a rename that succeeds has done anything
bool has_permissions = true;  // whether the file system knows permissions

/// Returns whether a signal interrupts this call.
bool is_interrupted() {
  if (interrupted == 0) return false;
  --interrupted;
  errno = EINTR;
  return true;
}

}  // namespace

extern "C" int fsync(int descriptor) {
  if (is_interrupted()) return -1;
  struct stat status {};
  if (fstat(descriptor, &status) == 0) synced += S_ISDIR(status.st_mode) ? 'd' : 'f';
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

extern "C" int close(int descriptor) {
  const auto closed = static_cast<int>(syscall(SYS_close, descriptor));  // whatever is said of it
  return is_interrupted() ? -1 : closed;
}

extern "C" int rename(const char* from, const char* to) noexcept {
  return renames ? static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0)) : 0;
}

extern "C" int fchmod(int descriptor, mode_t mode) noexcept {
  if (has_permissions) return static_cast<int>(syscall(SYS_fchmod, descriptor, mode));
  errno = EPERM;
  return -1;
}

namespace headlab { namespace {

class Synced : public testing::Test {
 protected:
  Synced() { synced.clear(); }
  ~Synced() override {
    has_permissions = true;
    renames = true;
    interrupted = 0;
  }
  TemporaryFolder folder_;
};

TEST_F(Synced, IsAFileBeforeItsNameAndThenItsDirectory) {
  write_file(folder_ / "a", "one");
  EXPECT_EQ(synced, "fd");
}

TEST_F(Synced, IsAFileWhoseCallsASignalInterrupts) {
  for (int calls = 1; calls <= 4; ++calls) {
    interrupted = calls;
    synced.clear();
    write_file(folder_ / "a", "one");
    EXPECT_EQ(synced, "fd") << calls;
    EXPECT_EQ(interrupted, 0);
  }
}

TEST_F(Synced, FileWhoseRenameDidNothingIsAnErrorAndLeavesNothing) {
  write_file(folder_ / "a", "one");
  renames = false;
  EXPECT_THROW(write_file(folder_ / "a", "two"), Error);
  renames = true;
  EXPECT_EQ(read_file(folder_ / "a"), "one");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(Synced, IsAFileOnADiskWithoutPermissions) {
  write_file(folder_ / "a", "one");
  std::filesystem::permissions(folder_ / "a", std::filesystem::perms::owner_read);
  has_permissions = false;
  write_file(folder_ / "a", "two");
  EXPECT_EQ(read_file(folder_ / "a"), "two");
  const auto open = std::filesystem::status(folder_ / "a").permissions();
  EXPECT_EQ(open, std::filesystem::perms::owner_read) << "never more open than before";
}

TEST_F(Synced, IsALogAfterEachLine) {
  append_line(folder_ / "a", "one");
  append_line(folder_ / "a", "two");
  EXPECT_EQ(synced, "ff");
}

}  // namespace
}  // namespace headlab
