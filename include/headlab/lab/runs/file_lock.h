// Locks of files, so that one process at a time writes a run. The system releases the lock of a
// process that dies, so none remains. Read next: run.h, whose folder has such a lock;
// files.h of the framework, which writes without one.
#pragma once

#include <filesystem>
#include <string>

namespace headlab {

/// A lock that one process at a time can hold. It ends with the process, in whatever way that ends,
/// or with the object. While it is held, its file names the holder; the destructor removes the
/// file.
class FileLock {
 public:
  /// Tries to take the lock of a file without waiting; creates the file if it does not exist. Error
  /// if it cannot be created, is a symbolic link, or holds anything other than the line of a lock.
  explicit FileLock(std::filesystem::path file);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool held() const { return held_; }
  /// Returns whether the file system supports locks; if it does not, every process holds them.
  bool is_certain() const { return certain_; }
  /// Returns the holder if it is another process: "process 1234 on HOST since 2026-11-22 08:40:01".
  const std::string& holder() const { return holder_; }

 private:
  std::filesystem::path file_;
  int descriptor_ = -1, process_;
  bool held_ = true, certain_ = true;
  std::string holder_;
};

/// Sleeps for 10 ms, between two attempts to take a lock.
void wait_a_moment();

}  // namespace headlab
