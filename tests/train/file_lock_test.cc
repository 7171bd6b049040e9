// Locks of files: one process at a time, no file of the user is touched, and a lock of a dead
// process is free. Errors of the system are played by a function that replaces flock. Read next:
// src/lab/runs/file_lock.cc.
#include "headlab/lab/runs/file_lock.h"

#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "headlab/core/base/files.h"
#include "support/errors.h"
#include "support/folders.h"

static int failing_locks = 0, lock_error = 0;  // how many calls of flock fail, and how

#ifdef SYS_flock
extern "C" int flock(int file, int operation) noexcept {
  if (failing_locks == 0) return static_cast<int>(::syscall(SYS_flock, file, operation));
  --failing_locks;
  errno = lock_error;
  return -1;
}
#endif

namespace headlab { namespace {

namespace fs = std::filesystem;

using Lock = InAFolder;

TEST_F(Lock, LeavesFilesOfTheUser) {
  for (const char* mine :
       {"process of my thesis", "process 12 of the plan", "process 12 on paper since 2020", "x"}) {
    write_file(folder / "lock", mine);
    EXPECT_THROW(FileLock(folder / "lock"), Error) << mine;
    EXPECT_EQ(read_file(folder / "lock"), mine);
  }
  write_file(folder / "lock", "process 12 on host since 2026-11-22 08:40:01");  // its process died
  EXPECT_TRUE(FileLock(folder / "lock").held());
  EXPECT_FALSE(fs::exists(folder / "lock"));
}

TEST_F(Lock, IsHeldByOneAtATime) {
  {
    const FileLock first(folder / "lock");
    EXPECT_TRUE(first.held());
    EXPECT_FALSE(FileLock(folder / "lock").held());
    EXPECT_TRUE(FileLock(folder / "other").held());
    EXPECT_THROW(FileLock(folder / "nowhere" / "lock"), Error);
  }
  EXPECT_FALSE(fs::exists(folder / "lock"));
  EXPECT_TRUE(FileLock(folder / "lock").held());
}

TEST_F(Lock, SaysWhoHoldsItAndSinceWhen) {
  const FileLock first(folder / "lock"), second(folder / "lock");
  EXPECT_EQ(first.holder(), "");
  EXPECT_TRUE(second.holder().starts_with("process " + std::to_string(getpid()) + " on "));
  EXPECT_NE(second.holder().find(" since 20"), std::string::npos) << second.holder();
}

TEST_F(Lock, IsHeldAgainWhenAKilledProcessLeftItsFile) {
  write_file(folder / "lock", "process 1 on nowhere since 2026-11-22 08:40:01");
  EXPECT_TRUE(FileLock(folder / "lock").held());
}

#ifdef SYS_flock
TEST_F(Lock, RetriesAfterASignalAndFailsOnADiskError) {
  failing_locks = 3, lock_error = EINTR;
  const FileLock lock(folder / "lock");
  EXPECT_TRUE(lock.held() && lock.is_certain());
  failing_locks = 1, lock_error = EIO;
  expect_error([&] { FileLock(folder / "disk"); }, {"lock", "disk", "nput/output error"});
  failing_locks = 1, lock_error = ENOLCK;  // a file system without locks
  const FileLock none(folder / "none");
  EXPECT_TRUE(none.held() && !none.is_certain());
}
#endif

TEST_F(Lock, TouchesNothingThatIsNoLock) {
  write_file(folder / "thesis.txt", "years of work");
  fs::create_symlink("thesis.txt", folder / "link");
  for (const char* name : {"link", "thesis.txt"}) {
    EXPECT_THROW(FileLock(folder / name), Error) << name;
    EXPECT_EQ(read_file(folder / "thesis.txt"), "years of work");
    EXPECT_TRUE(fs::exists(folder / name));
  }
}

}  // namespace
}  // namespace headlab
