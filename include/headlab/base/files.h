// Files. A file is written to a temporary name beside it, synced, and renamed: a reader sees the
// old file or the new one, never half, whenever the process or the machine dies. Read next:
// safetensors.h, whose files these are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/json.h"

namespace headlab {

/// All bytes of the file. Error that names the path and the reason of the system; devices and
/// pipes, which may never end, and files beyond 64 GiB are refused.
std::string read_file(const std::filesystem::path& path);

/// A file that is read in parts. Errors as those of read_file.
class FileReader {
 public:
  explicit FileReader(std::filesystem::path file);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  std::uint64_t size() const { return size_; }
  /// `count` bytes from `begin` on. Error if the file ends before.
  std::string read(std::uint64_t begin, std::uint64_t count) const;

 private:
  std::filesystem::path file_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

/// How a write treats a path that is a symbolic link. A run may come from someone else, and a link
/// inside it may point to any file of the user; so only paths that the user names are followed.
enum class Links {
  replace,  // the file takes the place of the link, or of a pipe; the target stays as it is
  refuse,   // an Error
  follow    // the target is written; a pipe is written in place
};

/// Replaces the file as one step. Error (disk full, no permission ...) leaves the old file as it
/// was, and no temporary file behind. Keeps the permissions of the old file; a device is written in
/// place.
void write_file(const std::filesystem::path& path, std::string_view bytes,
                Links links = Links::replace);
/// The same, with the parts written one after the other.
void write_file(const std::filesystem::path& path, const std::vector<std::string_view>& parts,
                Links links = Links::replace);

/// Whether the name is that of a temporary file of write_file, NAME.tmp-PID-NUMBER. One whose
/// process was killed stays.
bool is_temporary(const std::filesystem::path& path);
/// The name of the file that such a file was to become.
std::string temporary_target(const std::filesystem::path& path);

/// Error if the path is a symbolic link, whether its target exists or not.
void refuse_link(const std::filesystem::path& path);

/// Adds `line` and a newline at the end of the file (made if there is none), in one write, and
/// syncs it. Error (a newline inside `line`, a symbolic link, disk full ...) leaves the file as it
/// was.
void append_line(const std::filesystem::path& path, std::string_view line);

/// JSON objects that carry a checksum: a finding as a file, and a line of a log.
void write_json(const std::filesystem::path& path, const Json& object,
                Links links = Links::replace);
void append_json(const std::filesystem::path& path, const Json& object);
/// The object of a file that `write_json` wrote. Error if it is damaged; a note if it has no
/// checksum, as those of earlier versions.
Json read_json(const std::filesystem::path& path);
/// Says that damage of this file cannot be seen.
void note_unchecked(const std::filesystem::path& path);

/// Whether there is anything of that name, as far as this process can see.
bool is_there(const std::filesystem::path& path);
/// Removes a file or an empty folder, where that can be done.
void remove_quietly(const std::filesystem::path& path);

/// Exchanges two directories beside each other: as one step where the system can (Linux, macOS),
/// else by three renames. Error if the system refuses (a mount point, no permission ...).
void exchange_directories(const std::filesystem::path& a, const std::filesystem::path& b);

/// A lock that one process at a time can hold; it ends with the process, however that ends, or with
/// the object. While it is held its file says who holds it; the end of the object removes the file.
class FileLock {
 public:
  /// Asks for the lock of a file, which is made if it is not there; does not wait. Error if it
  /// cannot be made, is a symbolic link, or holds anything but what a lock holds.
  explicit FileLock(std::filesystem::path file);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool held() const { return held_; }
  /// Whether the file system knows locks; where it does not, everyone holds them.
  bool is_certain() const { return certain_; }
  /// "process 1234 on HOST since 2026-11-22 08:40:01": who holds it, if another process does.
  const std::string& holder() const { return holder_; }

 private:
  std::filesystem::path file_;
  int descriptor_ = -1, process_;
  bool held_ = true, certain_ = true;
  std::string holder_;
};

/// Sleeps for 10 ms: between two attempts to get a lock.
void wait_a_moment();

/// Makes the directory and its parents. Error in words.
void make_directories(const std::filesystem::path& path);

}  // namespace headlab
