// Opening and writing files by POSIX calls, with hints for failures (descriptor.h). Reasons in
// errors are the system's own messages. A call interrupted by a signal is repeated. Read next:
// files.cc, which writes whole files atomically.
#include "core/base/descriptor.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "headlab/core/base/error.h"

namespace headlab {

using std::filesystem::path;

static std::string hint_for(int code) {
  if (code == ENOSPC || code == EDQUOT) {
    return "free some space on this disk, or choose another place";
  }
  if (code == EFBIG) return "the file is larger than this disk or 'ulimit -f' allows";
  if (code == EACCES || code == EPERM || code == EROFS) {
    return "check who may read and write there, or choose another place";
  }
  if (code == ENOENT) return "check the path; directories in it must exist";
  if (code == EISDIR) return "name a file, not a directory";
  if (code == ELOOP) return "remove the symbolic link: links are not followed here, or form a loop";
  if (code == ENOTDIR || code == EEXIST) return "a part of the path is a file and not a directory";
  return code == EMFILE || code == ENFILE ? "close other files, or raise 'ulimit -n'" : "";
}

void fail(std::string_view action, const path& file, int code) {
  const std::string reason = std::error_code(code, std::generic_category()).message();
  throw Error(text("cannot ", action, " '", file.string(), "': ", reason), hint_for(code));
}

int open_file(const path& file, int flags, unsigned mode) {
  int number = -1;
  do {
    number = ::open(file.c_str(), flags | O_CLOEXEC, mode);
  } while (number < 0 && errno == EINTR);
  return number;
}

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::write(descriptor, bytes.data(), std::min(bytes.size(), kMostBytesPerCall));
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

int sync_file(int descriptor) {
  int code = EINTR;
  while (code == EINTR) {
    code = ::fsync(descriptor) == 0 ? 0 : errno;
  }
  return code;
}

int sync_directory(const path& file) {
  const path directory = file.has_parent_path() ? file.parent_path() : path(".");
  const Descriptor descriptor(open_file(directory, O_RDONLY));
  // If writing to the directory is allowed but listing it is not, there is nothing to sync by.
  if (!descriptor.is_open()) return errno == EACCES ? 0 : errno;
  const int code = sync_file(descriptor.number());
  return code == EINVAL ? 0 : code;
}

}  // namespace headlab
