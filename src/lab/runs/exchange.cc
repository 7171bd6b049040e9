// An exchange of two folders by one system call, or by three renames where a system or a file
// system has no such call (exchange.h). The parent folder is synced, so that the exchange is
// durable. Read next: run_folder.cc.
#include "lab/runs/exchange.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>

#include "core/base/descriptor.h"

namespace headlab {

using std::filesystem::path;

namespace {

/// Exchanges atomically. Returns 0 or the system's error number; ENOTSUP if it cannot exchange.
int exchange(const path& a, const path& b) {
#if defined(RENAME_EXCHANGE)
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0 ? 0 : errno;
#elif defined(RENAME_SWAP)
  return ::renamex_np(a.c_str(), b.c_str(), RENAME_SWAP) == 0 ? 0 : errno;
#else
  return a == b ? 0 : ENOTSUP;
#endif
}

/// Exchanges in three steps, for systems and file systems that cannot do it in one.
int exchange_by_renames(const path& a, const path& b) {
  path aside = a;
  aside += kBeingAside;
  if (::rename(a.c_str(), aside.c_str()) != 0) return errno;
  if (::rename(b.c_str(), a.c_str()) == 0) {
    return ::rename(aside.c_str(), b.c_str()) == 0 ? 0 : errno;
  }
  const int code = errno;
  ::rename(aside.c_str(), a.c_str());
  return code;
}

}  // namespace

bool exchange_directories(const path& a, const path& b) {
  int code = exchange(a, b);
  if (code == ENOTSUP || code == EINVAL || code == ENOSYS) code = exchange_by_renames(a, b);
  if (code == EBUSY || code == EXDEV) return false;
  if (code != 0) fail("replace", a, code);
  code = sync_directory(a);
  if (code != 0) fail("sync the directory of", a, code);
  return true;
}

}  // namespace headlab
