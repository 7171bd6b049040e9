// File locks (file_lock.h): an advisory system lock on a file that names its holder. The file is
// removed when the lock is released. A file of the user with the same name is never changed. Read
// next: run_folder.cc.
#include "headlab/lab/runs/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <regex>

#include "core/base/descriptor.h"
#include "headlab/core/base/error.h"

namespace headlab {

using std::filesystem::path;

namespace {

/// Returns whether the line is that of a lock: empty, or "process PID on HOST since DATE TIME".
/// Anything else is a file of the user.
bool is_holder(const std::string& line) {
  static const std::regex form(
      R"(process [0-9]+ on [^ \n]* since [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})");
  return line.empty() || std::regex_match(line, form);
}

/// Returns "process 1234 on HOST since 2026-11-22 08:40:01" for this process.
std::string this_process() {
  char host[65] = "", time[32] = "";
  ::gethostname(host, sizeof host - 1);
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  if (::localtime_r(&now, &local) != nullptr) {
    std::strftime(time, sizeof time, "%Y-%m-%d %H:%M:%S", &local);
  }
  return text("process ", ::getpid(), " on ", host, " since ", time);
}

}  // namespace

FileLock::FileLock(path file) : file_(std::move(file)), process_(::getpid()) {
  for (int tries = 0;; ++tries) {
    Descriptor descriptor(open_file(file_, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK));
    if (!descriptor.is_open()) fail("lock", file_, errno);
    int code = EINTR;
    while (code == EINTR) {
      const bool locked = ::flock(descriptor.number(), LOCK_EX | LOCK_NB) == 0;
      code = locked ? 0 : errno;
    }
    if (code == EIO) fail("lock", file_, code);
    certain_ = code == 0 || code == EWOULDBLOCK;
    held_ = code != EWOULDBLOCK;
    struct stat opened {
    }, named{};
    if (::fstat(descriptor.number(), &opened) != 0) fail("lock", file_, errno);
    const bool gone = ::lstat(file_.c_str(), &named) != 0 || opened.st_ino != named.st_ino;
    if (gone && tries < 100) continue;  // its holder has just removed it
    char line[256];
    const ssize_t size = ::pread(descriptor.number(), line, sizeof line, 0);
    holder_.assign(line, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    if (!is_holder(holder_)) {
      throw Error(text("cannot lock '", file_.string(), "': it is a file of another kind"),
                  "rename it, or choose another place");
    }
    if (holder_.empty()) holder_ = "another process";
    if (held_ && ::ftruncate(descriptor.number(), 0) == 0) {
      write_all(descriptor.number(), this_process());  // information for others; the lock does not
                                                       // need it
      holder_.clear();
    }
    descriptor_ = descriptor.release();
    return;
  }
}

FileLock::~FileLock() {
  // The file is removed before the lock is released, so that no process locks a removed file.
  if (held_ && process_ == ::getpid()) ::unlink(file_.c_str());
  ::close(descriptor_);
}

void wait_a_moment() { ::usleep(10'000); }

}  // namespace headlab
