//===- AtomicFile.cpp - written beside, synced, renamed -------------------===//
#include "runtime/schema/AtomicFile.h"
#include "ops/vocabulary/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tess::runtime {

llvm::Error AtomicFile::failed(const char *doing, const std::string &file) {
  return makeError(ErrorCode::IoError, file + ": must be able to " + doing + ", got " + std::strerror(errno));
}

AtomicFile::~AtomicFile() {
  if (fd < 0)
    return;
  ::unlink(temporary.c_str()); // before the lock is released
  ::close(fd);
}

/// Whether `fd` is the regular file that `path` names now, and has no other name.
static bool isTheFile(int fd, const std::string &path) {
  struct stat opened = {}, named = {};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && S_ISREG(opened.st_mode) &&
         opened.st_nlink == 1 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/// A writer holds a lock on its temporary file, which ends with the process. The file of a killed writer is therefore
/// taken over, so that leftovers never pile up; files of running writers are skipped.
llvm::Error AtomicFile::create() {
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    temporary = path + ".tmp" + (attempt ? std::to_string(attempt) : "");
    int candidate = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (candidate < 0)
      continue;
    bool locked = ::flock(candidate, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; // some file systems have no locks
    if (locked && isTheFile(candidate, temporary) && ::ftruncate(candidate, 0) == 0) {
      fd = candidate;
      return llvm::Error::success();
    }
    ::close(candidate);
    errno = EBUSY;
  }
  return failed("create a file beside it", path);
}

llvm::Error AtomicFile::writeAt(uint64_t offset, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::pwrite(fd, bytes.data(), std::min<size_t>(bytes.size(), size_t(1) << 30), off_t(offset));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return failed("write", path);
    bytes = bytes.drop_front(n);
    offset += n;
  }
  return llvm::Error::success();
}

llvm::Error AtomicFile::append(llvm::StringRef bytes) {
  if (llvm::Error e = writeAt(written, bytes))
    return e;
  written += bytes.size();
  return llvm::Error::success();
}

llvm::Error AtomicFile::syncFolder() {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  int folderFd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folderFd < 0)
    return failed("open the folder", folder);
  // Some file systems cannot sync a folder and return EINVAL; the rename is then as durable as they make it.
  bool ok = ::fsync(folderFd) == 0 || errno == EINVAL;
  llvm::Error error = ok ? llvm::Error::success() : failed("sync the folder", folder);
  ::close(folderFd);
  return error;
}

llvm::Error AtomicFile::commit(Sync sync) {
  if (sync == Sync::Now && ::fsync(fd) != 0)
    return failed("sync", path);
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return failed("replace", path);
  ::close(fd);
  fd = -1;
  return sync == Sync::Now ? syncFolder() : llvm::Error::success();
}

llvm::Error replaceFile(llvm::StringRef path, llvm::StringRef bytes, Sync sync) {
  AtomicFile file(path);
  if (llvm::Error e = file.create())
    return e;
  if (llvm::Error e = file.append(bytes))
    return e;
  return file.commit(sync);
}

} // namespace tess::runtime
