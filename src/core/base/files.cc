// Files by POSIX calls (files.h), because a stream can neither sync nor report why it failed. A
// write is: temporary file in the same folder, bytes, fsync, rename, fsync of the directory. A
// failure removes the temporary file and reports the system's reason. Read next: safetensors.cc.
#include "headlab/core/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>

#include "core/base/descriptor.h"
#include "core/base/digest.h"
#include "headlab/core/base/error.h"

namespace headlab {
namespace {

using std::filesystem::path;

constexpr std::size_t kMostBytesRead = std::size_t{1} << 36;  // of a file, as a whole

/// Opens a file for reading, but nothing that might not end. Does not wait for the writer of a
/// pipe.
int open_regular(const path& file) {
  Descriptor descriptor(open_file(file, O_RDONLY | O_NONBLOCK));
  struct stat status {};
  if (!descriptor.is_open() || ::fstat(descriptor.number(), &status) != 0) {
    fail("read", file, errno);
  }
  if (S_ISDIR(status.st_mode)) fail("read", file, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    throw Error(text("cannot read '", file.string(), "': it is a device or a pipe"),
                "name a file on a disk");
  }
  return descriptor.release();
}

int write_parts(int descriptor, const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) {
    if (const int code = write_all(descriptor, part)) return code;
  }
  return 0;
}

/// Writes, syncs and closes the temporary file. Returns 0 or the system's error number.
int fill(Descriptor& temporary, const std::vector<std::string_view>& parts) {
  if (const int code = write_parts(temporary.number(), parts)) return code;
  if (const int code = sync_file(temporary.number())) return code;
  return temporary.close();
}

constexpr mode_t kPermissions = 0777;  // without set-id bits: the new file may have another owner

constexpr std::string_view kTemporary = ".tmp-";  // follows the name of the file that is written

void replace_file(const path& file, const std::vector<std::string_view>& parts,
                  const mode_t* mode) {
  static std::atomic<unsigned> number = 0;
  const mode_t permissions = mode == nullptr ? 0666 : *mode & kPermissions;
  path name;
  int opened = -1;
  do {  // an existing name was left by a process that died
    name = file;
    name += text(kTemporary, ::getpid(), "-", number++);
    opened = open_file(name, O_WRONLY | O_CREAT | O_EXCL, permissions);
  } while (opened < 0 && errno == EEXIST);
  if (opened < 0) fail("write", file, errno);

  Descriptor temporary(opened);
  // Adds permissions that the umask took away. File systems without permissions refuse it (vfat).
  if (mode != nullptr) ::fchmod(opened, permissions);
  int code = fill(temporary, parts);
  if (code == 0 && ::rename(name.c_str(), file.c_str()) != 0) code = errno;
  if (code == 0 && ::access(name.c_str(), F_OK) == 0) code = EIO;  // it said so and did nothing
  if (code != 0) {
    ::unlink(name.c_str());
    fail("write", file, code);
  }
  code = sync_directory(file);
  if (code != 0) fail("sync the directory of", file, code);
}

/// Returns the number of the descriptor that a path names ("/dev/stdout": 1); -1 for other paths.
int descriptor_named(const path& file) {
  const std::string name = file.lexically_normal().string();
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder)) continue;
    const char *begin = name.data() + folder.size(), *end = name.data() + name.size();
    int number = -1;
    const auto [rest, failed] = std::from_chars(begin, end, number);
    if (failed == std::errc() && rest == end) return number;
  }
  return -1;
}

/// Writes to a pipe, to a device, or where an open descriptor has arrived: after earlier output.
void write_in_place(const path& file, const std::vector<std::string_view>& parts) {
  const int named = descriptor_named(file);
  Descriptor descriptor(named < 0 ? open_file(file, O_WRONLY) : ::dup(named));
  if (!descriptor.is_open()) fail("write", file, errno);
  if (const int code = write_parts(descriptor.number(), parts)) fail("write", file, code);
}

/// Returns the name with each byte that is no printable character of ASCII as \xNN.
std::string printable(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool is_printable = c >= ' ' && c < 0x7F;
    out += is_printable ? std::string(1, c) : "\\x" + hexadecimal(static_cast<unsigned char>(c), 2);
  }
  return out;
}

/// Returns the target of a chain of symbolic links; it need not exist.
path followed(path file) {
  std::error_code ignored;
  for (int links = 0; std::filesystem::is_symlink(file, ignored) && links < 40; ++links) {
    file = file.parent_path() / std::filesystem::read_symlink(file, ignored);
  }
  return file;
}

}  // namespace

std::string read_file(const path& file) {
  const Descriptor descriptor(open_regular(file));
  struct stat status {};
  if (::fstat(descriptor.number(), &status) != 0) fail("read", file, errno);
  // One byte more than the size, so that the end is detected without growing; /proc reports 0 and
  // grows.
  const auto size = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  std::string bytes(std::min(size, kMostBytesRead) + 1, '\0');
  std::size_t used = 0;
  for (;;) {
    require(used <= kMostBytesRead, "cannot read '", file.string(), "': it has more than 64 GiB");
    if (used == bytes.size()) bytes.resize(2 * bytes.size() + 4096);
    const std::size_t wanted = std::min(bytes.size() - used, kMostBytesPerCall);
    const ssize_t count = ::read(descriptor.number(), bytes.data() + used, wanted);
    if (count < 0 && errno != EINTR) fail("read", file, errno);
    if (count == 0) break;
    if (count > 0) used += static_cast<std::size_t>(count);
  }
  bytes.resize(used);
  return bytes;
}

FileReader::FileReader(path file) : file_(std::move(file)), descriptor_(open_regular(file_)) {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail("read", file_, errno);
  size_ = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
}

FileReader::~FileReader() { ::close(descriptor_); }

std::string FileReader::read(std::uint64_t begin, std::uint64_t count) const {
  std::string bytes(count, '\0');
  for (std::size_t used = 0; used < count;) {
    const ssize_t got = ::pread(descriptor_, bytes.data() + used,
                                std::min<std::size_t>(count - used, kMostBytesPerCall),
                                static_cast<off_t>(begin + used));
    if (got < 0 && errno != EINTR) fail("read", file_, errno);
    require(got != 0, "cannot read '", file_.string(), "': it ends at byte ", begin + used);
    if (got > 0) used += static_cast<std::size_t>(got);
  }
  return bytes;
}

void write_file(const path& file, std::string_view bytes, Links links) {
  write_file(file, std::vector<std::string_view>{bytes}, links);
}

void write_file(const path& file, const std::vector<std::string_view>& parts, Links links) {
  if (is_written_in_place(file, links)) {
    write_in_place(file, parts);
    return;
  }
  if (links == Links::refuse) refuse_link(file);
  const path target = links == Links::follow ? followed(file) : file;
  struct stat status {};
  const bool exists = ::lstat(target.c_str(), &status) == 0;
  const bool is_regular = exists && S_ISREG(status.st_mode);
  if (exists && S_ISDIR(status.st_mode)) fail("write", target, EISDIR);
  replace_file(target, parts, is_regular ? &status.st_mode : nullptr);
  if (exists && S_ISLNK(status.st_mode)) {
    print_note(text(printable(file.string()),
                    " was a symbolic link: it is replaced, and the file that it ",
                    "pointed to stays as it is"));
  }
}

bool is_written_in_place(const path& file, Links links) {
  if (descriptor_named(file) >= 0) return true;
  struct stat status {};
  const bool follows = links == Links::follow;
  const int failed = follows ? ::stat(file.c_str(), &status) : ::lstat(file.c_str(), &status);
  if (failed != 0) return false;
  const bool is_device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
  return is_device || (follows && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)));
}

bool is_temporary(const path& file) {
  const std::string name = file.filename().string();
  const std::size_t end = name.rfind(kTemporary);
  if (end == name.npos || end == 0) return false;
  const std::string_view numbers = std::string_view(name).substr(end + kTemporary.size());
  return !numbers.empty() && numbers.find_first_not_of("0123456789-") == numbers.npos;
}

std::string temporary_target(const path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.rfind(kTemporary));
}

void refuse_link(const path& file) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(file, ignored)) {
    throw Error(
        text("cannot write '", file.string(), "': it is a symbolic link"),
        "remove the symbolic link: a run may come from someone else, and links in it are not "
        "followed");
  }
}

bool is_there(const path& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

void remove_quietly(const path& file) {
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
}

void make_directories(const path& directory) {
  std::error_code code;
  std::filesystem::create_directories(directory, code);
  if (code) fail("make the directory", directory, code.value());
  if (!std::filesystem::is_directory(directory, code)) {
    fail("make the directory", directory, EEXIST);
  }
}

}  // namespace headlab
