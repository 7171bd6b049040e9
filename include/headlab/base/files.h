// Files. A file is written to a temporary name beside it, synced, and renamed: a reader sees the
// old file or the new one, never half, whenever the process or the machine dies. Read next:
// safetensors.h, whose files these are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headlab {

/// All bytes of the file. Error that names the path and the reason of the system.
std::string read_file(const std::filesystem::path& path);

/// A file open for reading at any position: for files too large to be held twice. Errors as
/// read_file.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Bytes.
  std::uint64_t size() const;
  /// Fills `bytes` from `offset` on. Error if the file ends before.
  void read(std::uint64_t offset, std::span<char> bytes) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
};

/// Replaces the file as one step. Error (disk full, no permission ...) leaves the old file as it
/// was, and no temporary file behind. Follows a symbolic link; keeps the permissions of the old
/// file; a device or a pipe is written in place.
void write_file(const std::filesystem::path& path, std::string_view bytes);
/// The same, with the parts written one after the other.
void write_file(const std::filesystem::path& path, const std::vector<std::string_view>& parts);

/// Adds `line` and a newline at the end of the file (made if there is none), in one write, and
/// syncs it. Error (a newline inside `line`, disk full ...) leaves the file as it was.
void append_line(const std::filesystem::path& path, std::string_view line);

/// Exchanges two directories beside each other: as one step where the system can (Linux, macOS),
/// else by three renames. Error if the system refuses (a mount point, no permission ...).
void exchange_directories(const std::filesystem::path& a, const std::filesystem::path& b);

/// A lock that one process at a time can hold; it ends with the process, however that ends. Where
/// the file system knows no locks everyone holds it.
class FileLock {
 public:
  /// Asks for the lock of a file, which is made if it is not there and stays; does not wait. Error
  /// if it cannot be made.
  explicit FileLock(const std::filesystem::path& file);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool held() const { return held_; }

 private:
  int descriptor_;
  bool held_;
};

/// Makes the directory and its parents. Error in words.
void make_directories(const std::filesystem::path& path);

}  // namespace headlab
