// A library for LD_PRELOAD that lets the Nth call of one function of the system fail, or kills the
// process in front of it, as a power cut would. Settings, all in the environment:
//   FAULT_CALL=write     read, pread, write, fsync, rename, open, mkdir, close, ftruncate, mmap,
//                        malloc, unlink, flock; worker: malloc in threads other than the first; or
//                        any: each of them but the two of malloc
//   FAULT_AT=17          the number of the call, from 1; 0: none
//   FAULT_ERRNO=28       how it fails (default: ENOSPC); FAULT_LAST=1: all later ones fail as well
//   FAULT_KILL=1         the process ends there (SIGKILL) instead
//   FAULT_COUNT=FILE     at its end the process writes there how many such calls there were
// Used by run.py. Needs the GNU C library: where it is missing there is nothing to build.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

const char* call_name() {
  static const char* name = std::getenv("FAULT_CALL");
  return name != nullptr ? name : "";
}

long setting(const char* name, long fallback) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atol(value) : fallback;
}

std::atomic<long> calls{0};

/// Counts a call of this name; true if it has to fail. Allocates nothing.
bool fails(const char* name) {
  static const bool any = std::strcmp(call_name(), "any") == 0;
  static const long at = setting("FAULT_AT", 0), last = setting("FAULT_LAST", 0);
  static const long code = setting("FAULT_ERRNO", ENOSPC), kill = setting("FAULT_KILL", 0);
  const bool counted = any ? std::strcmp(name, "malloc") != 0 && std::strcmp(name, "worker") != 0
                           : std::strcmp(name, call_name()) == 0;
  if (!counted) return false;
  const long number = ++calls;
  if (at == 0 || (last != 0 ? number < at : number != at)) return false;
  if (kill != 0) ::kill(::getpid(), SIGKILL);
  errno = static_cast<int>(code);
  return true;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// At the end of the process: how often the function was called.
struct Count {
  ~Count() {
    const char* path = std::getenv("FAULT_COUNT");
    if (path == nullptr) return;
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%ld\n", calls.load());
    static auto* open = real<int(const char*, int, ...)>("open");
    static auto* write = real<ssize_t(int, const void*, size_t)>("write");
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file >= 0 && write(file, text, static_cast<size_t>(length)) < 0) std::_Exit(99);
  }
} count;

}  // namespace

// Each function as the system has it, unless this call of it has to fail.
#define FAULTY(result, name, parameters, arguments, failure) \
  extern "C" result name parameters {                        \
    static auto* function = real<result parameters>(#name);  \
    return fails(#name) ? failure : function arguments;      \
  }

FAULTY(ssize_t, write, (int file, const void* bytes, size_t size), (file, bytes, size), -1)
FAULTY(ssize_t, read, (int file, void* bytes, size_t size), (file, bytes, size), -1)
FAULTY(ssize_t, pread, (int file, void* bytes, size_t size, off_t at), (file, bytes, size, at), -1)
FAULTY(int, fsync, (int file), (file), -1)
FAULTY(int, rename, (const char* from, const char* to), (from, to), -1)
FAULTY(int, mkdir, (const char* path, mode_t mode), (path, mode), -1)
FAULTY(int, ftruncate, (int file, off_t size), (file, size), -1)
FAULTY(int, unlink, (const char* path), (path), -1)
FAULTY(int, flock, (int file, int operation), (file, operation), -1)

/// As programs call pread that are built for large files.
extern "C" ssize_t pread64(int file, void* bytes, size_t size, off64_t at) {
  static auto* function = real<ssize_t(int, void*, size_t, off64_t)>("pread64");
  return fails("pread") ? -1 : function(file, bytes, size, at);
}

extern "C" int close(int file) {
  static auto* function = real<int(int)>("close");
  const bool failed = fails("close");
  const int code = errno, result = function(file);  // it is closed even where it fails
  if (failed) errno = code;
  return failed ? -1 : result;
}

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) {
  static auto* function = real<int(int, const char*, int, const char*, unsigned)>("renameat2");
  return fails("rename") ? -1 : function(from_folder, from, to_folder, to, flags);
}

extern "C" int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, unsigned));
  va_end(rest);
  static auto* function = real<int(const char*, int, ...)>("open");
  return fails("open") ? -1 : function(path, flags, mode);
}

extern "C" void* mmap(void* place, size_t size, int access, int flags, int file, off_t offset) {
  static auto* function = real<void*(void*, size_t, int, int, int, off_t)>("mmap");
  return fails("mmap") ? MAP_FAILED : function(place, size, access, flags, file, offset);
}

// The allocator's own name for itself, because dlsym allocates.
extern "C" void* __libc_malloc(size_t size);
extern "C" void* __libc_memalign(size_t alignment, size_t size);

/// Whether this request for memory has to fail.
static bool no_memory() {
  static const bool of_workers = std::strcmp(call_name(), "worker") == 0;
  return of_workers ? ::syscall(SYS_gettid) != ::getpid() && fails("worker") : fails("malloc");
}

extern "C" void* malloc(size_t size) { return no_memory() ? nullptr : __libc_malloc(size); }

extern "C" void* aligned_alloc(size_t alignment, size_t size) {
  return no_memory() ? nullptr : __libc_memalign(alignment, size);
}
