// Files. A file is written under a temporary name in the same folder, synced, and renamed: readers
// see the old file or the new one, never a part, even if the process or the machine dies. Read
// next: safetensors.h, which stores tensors this way.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace headlab {

/// Returns all bytes of the file. Errors name the path and the system's reason. Devices and pipes,
/// which may never end, and files beyond 64 GiB are refused.
std::string read_file(const std::filesystem::path& path);

/// A file that is read in parts. Errors: as for read_file.
class FileReader {
 public:
  explicit FileReader(std::filesystem::path file);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  std::uint64_t size() const { return size_; }
  /// Returns `count` bytes from `begin` on. Error if the file ends earlier.
  std::string read(std::uint64_t begin, std::uint64_t count) const;

 private:
  std::filesystem::path file_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

/// Treatment of a path that is a symbolic link when writing. A run may come from someone else, and
/// a link inside it may point to any file of the user, so only paths named by the user are
/// followed.
enum class Links {
  replace,  // the file replaces the link, or the pipe; the target does not change
  refuse,   // an Error
  follow    // the target is written; a pipe is written in place
};

/// Replaces the file atomically. On an error (disk full, no permission ...) the old file does not
/// change and no temporary file remains. Keeps those permissions of the old file that the file
/// system knows, but no set-id bits. Some files are written in place: see is_written_in_place().
void write_file(const std::filesystem::path& path, std::string_view bytes,
                Links links = Links::replace);
/// Writes the parts one after the other, as above.
void write_file(const std::filesystem::path& path, const std::vector<std::string_view>& parts,
                Links links = Links::replace);

/// Returns whether a file is written in place, not replaced: it is a device, a pipe (only if links
/// are followed), or an open descriptor such as /dev/stdout.
bool is_written_in_place(const std::filesystem::path& path, Links links = Links::follow);

/// Returns whether the name is that of a temporary file of write_file, NAME.tmp-PID-NUMBER. Such a
/// file remains if its process was killed.
bool is_temporary(const std::filesystem::path& path);
/// Returns the name that such a file would have received.
std::string temporary_target(const std::filesystem::path& path);

/// Throws an Error if the path is a symbolic link, whether its target exists or not.
void refuse_link(const std::filesystem::path& path);

/// Returns whether the path exists and is visible to this process.
bool is_there(const std::filesystem::path& path);
/// Removes a file or an empty folder if possible; errors are ignored.
void remove_quietly(const std::filesystem::path& path);

/// Creates the directory and its parents. Error with a message.
void make_directories(const std::filesystem::path& path);

}  // namespace headlab
