//===- ContainerWriter.cpp - writing a `.tess` file -----------------------===//
#include "ops/Error.h"
#include "runtime/schema/Container.h"
#include "runtime/schema/ContainerFormat.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

namespace tess::runtime {

using namespace container;

namespace {

/// A temporary file beside the target; removed unless it was committed.
class TemporaryFile {
public:
  explicit TemporaryFile(llvm::StringRef path) : path(path) {}
  ~TemporaryFile();
  llvm::Error create();
  llvm::Error append(llvm::StringRef bytes);
  llvm::Error pad(uint64_t alignment);
  llvm::Error writeAt(uint64_t offset, llvm::StringRef bytes);
  llvm::Error commit();
  uint64_t position() const { return written; }

private:
  llvm::Error failed(const char *doing, const std::string &file) {
    return makeError(ErrorCode::IoError, file + ": must be able to " + doing + ", got " + std::strerror(errno));
  }
  llvm::Error syncFolder();

  std::string path, temporary;
  int fd = -1;
  uint64_t written = 0;
};

} // namespace

TemporaryFile::~TemporaryFile() {
  if (fd < 0)
    return;
  ::unlink(temporary.c_str()); // before the lock goes
  ::close(fd);
}

/// `fd` is the regular file that `path` names now, and nobody else's name for it.
static bool isTheFile(int fd, const std::string &path) {
  struct stat opened = {}, named = {};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && S_ISREG(opened.st_mode) &&
         opened.st_nlink == 1 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/// A writer holds a lock on its temporary file, which ends with the process: what a killed one left is nobody's and is
/// taken over, so that leftovers never pile up. Names that a running writer holds are passed over.
llvm::Error TemporaryFile::create() {
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    temporary = path + ".tmp" + (attempt ? std::to_string(attempt) : "");
    int candidate = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (candidate < 0)
      continue;
    bool locked = ::flock(candidate, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; // not every file system has locks
    if (locked && isTheFile(candidate, temporary) && ::ftruncate(candidate, 0) == 0) {
      fd = candidate;
      return llvm::Error::success();
    }
    ::close(candidate);
    errno = EBUSY;
  }
  return failed("create a file beside it", path);
}

llvm::Error TemporaryFile::writeAt(uint64_t offset, llvm::StringRef bytes) {
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

llvm::Error TemporaryFile::append(llvm::StringRef bytes) {
  if (llvm::Error e = writeAt(written, bytes))
    return e;
  written += bytes.size();
  return llvm::Error::success();
}

llvm::Error TemporaryFile::pad(uint64_t alignment) {
  static const char zeros[kAlignment] = {};
  return append({zeros, alignTo(written, alignment) - written});
}

llvm::Error TemporaryFile::syncFolder() {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  int folderFd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folderFd < 0)
    return failed("open the folder", folder);
  // Some file systems cannot sync a folder and say EINVAL; the rename is then as durable as they make it.
  bool ok = ::fsync(folderFd) == 0 || errno == EINVAL;
  llvm::Error error = ok ? llvm::Error::success() : failed("sync the folder", folder);
  ::close(folderFd);
  return error;
}

llvm::Error TemporaryFile::commit() {
  if (::fsync(fd) != 0)
    return failed("sync", path);
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return failed("replace", path);
  ::close(fd);
  fd = -1;
  return syncFolder();
}

template <typename T> static void put(std::string &out, T value) {
  char raw[sizeof(T)];
  llvm::support::endian::write<T, 1>(raw, value, llvm::endianness::little);
  out.append(raw, sizeof(T));
}

static llvm::Error checkNames(llvm::StringRef path, llvm::ArrayRef<SectionData> sections) {
  llvm::StringSet<> seen;
  for (const SectionData &section : sections) {
    if (section.name.size() > kMaxName)
      return invalidArgument(path + ": a section name must have at most " + llvm::Twine(kMaxName) + " bytes, got " +
                             llvm::Twine(section.name.size()));
    if (!seen.insert(std::to_string(uint32_t(section.kind)) + ":" + section.name).second)
      return invalidArgument(path + ": section names must differ, got " + section.name + " twice");
  }
  return llvm::Error::success();
}

static std::string header(uint32_t count, uint64_t tableOffset, llvm::StringRef table) {
  std::string out(kMagic, sizeof kMagic);
  put<uint32_t>(out, kContainerVersion);
  put<uint32_t>(out, count);
  put<uint64_t>(out, tableOffset);
  put<uint64_t>(out, table.size());
  put<uint64_t>(out, XXH3_64bits(table.data(), table.size()));
  put<uint64_t>(out, tableOffset + table.size());
  put<uint64_t>(out, 0);
  put<uint64_t>(out, XXH3_64bits(out.data(), out.size()));
  return out;
}

static void putEntry(std::string &table, const SectionData &section, uint64_t offset) {
  put<uint32_t>(table, uint32_t(section.kind));
  put<uint32_t>(table, uint32_t(section.name.size()));
  put<uint64_t>(table, offset);
  put<uint64_t>(table, section.bytes.size());
  put<uint64_t>(table, XXH3_64bits(section.bytes.data(), section.bytes.size()));
  table += section.name;
  table.resize(alignTo(table.size(), 8), '\0');
}

llvm::Error writeContainer(llvm::StringRef path, llvm::ArrayRef<SectionData> sections) {
  if (llvm::Error e = checkNames(path, sections))
    return e;
  TemporaryFile file(path);
  if (llvm::Error e = file.create())
    return e;
  if (llvm::Error e = file.append(std::string(kHeaderBytes, '\0')))
    return e;
  std::string table;
  for (const SectionData &section : sections) {
    if (llvm::Error e = file.pad(kAlignment))
      return e;
    putEntry(table, section, file.position());
    if (llvm::Error e = file.append(section.bytes))
      return e;
  }
  if (llvm::Error e = file.pad(kAlignment))
    return e;
  uint64_t tableOffset = file.position();
  if (llvm::Error e = file.append(table))
    return e;
  if (llvm::Error e = file.writeAt(0, header(uint32_t(sections.size()), tableOffset, table)))
    return e;
  return file.commit();
}

} // namespace tess::runtime
