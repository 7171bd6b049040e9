// POSIX file descriptors that close themselves, and the error that names a file and the system's
// reason. Shared by files.cc, and by the logs, locks and exchanges of the laboratory. Calls
// interrupted by a signal are repeated.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

namespace headlab {

/// Maximum bytes that one call reads or writes: some systems refuse 2 GiB.
inline constexpr std::size_t kMostBytesPerCall = std::size_t{1} << 30;

/// Throws "cannot ACTION 'FILE': REASON" with a hint for the system's error number.
[[noreturn]] void fail(std::string_view action, const std::filesystem::path& file, int code);

/// An open file that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  /// Returns 0 or the system's error number. A close that a signal interrupts has closed the file.
  int close() {
    const bool failed = is_open() && ::close(std::exchange(number_, -1)) != 0;
    return failed && errno != EINTR ? errno : 0;
  }

 private:
  int number_;
};

/// Opens a file; a new one gets the permissions `mode` that the umask allows. Returns its
/// descriptor, or -1 with the reason in errno.
int open_file(const std::filesystem::path& file, int flags, unsigned mode = 0666);

/// Writes all bytes. Returns 0 or the system's error number.
int write_all(int descriptor, std::string_view bytes);

/// Syncs a file. Returns 0 or the system's error number.
int sync_file(int descriptor);
/// Syncs the directory of a file, without which a rename is not durable. Returns 0 or the system's
/// error number; 0 if the file system does not support it.
int sync_directory(const std::filesystem::path& file);

}  // namespace headlab
