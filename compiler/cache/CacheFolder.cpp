//===- CacheFolder.cpp - where entries of the disk cache lie --------------===//
#include "compiler/cache/CacheFolder.h"
#include "runtime/schema/ImageHash.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <chrono>
#include <vector>

namespace fs = llvm::sys::fs;

namespace tess::compiler {

static constexpr llvm::StringLiteral kExtension = ".img";
static constexpr unsigned kHashDigits = 32;

EntryPlace placeOf(llvm::StringRef folder, llvm::StringRef key) {
  std::string name = runtime::imageHash(key);
  unsigned number = llvm::hexFromNibbles(name[0], name[1]);
  return {number, subfolderOf(folder, number) + "/" + name + kExtension.str()};
}

std::string subfolderOf(llvm::StringRef folder, unsigned number) {
  return (folder + "/" + llvm::utohexstr(number, /*LowerCase=*/true, /*Width=*/2)).str();
}

/// Whether the file was left by a process that ended while it wrote an entry.
static bool isAbandoned(llvm::StringRef path, const fs::basic_file_status &status) {
  constexpr std::chrono::hours longest(1); // upper bound of the time to write an entry
  return llvm::sys::path::extension(path).starts_with(".tmp") &&
         status.getLastModificationTime() + longest < std::chrono::system_clock::now();
}

void trimSubfolder(llvm::StringRef folder, unsigned number, uint64_t maxBytes) {
  struct File {
    llvm::sys::TimePoint<> used;
    uint64_t bytes;
    std::string path;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(subfolderOf(folder, number), error), end; !error && it != end; it.increment(error)) {
    llvm::ErrorOr<fs::basic_file_status> status = it->status();
    if (status && isAbandoned(it->path(), *status))
      (void)fs::remove(it->path());
    if (!status || !llvm::StringRef(it->path()).ends_with(kExtension))
      continue;
    files.push_back({status->getLastAccessedTime(), status->getSize(), it->path()});
    total += status->getSize();
  }
  llvm::sort(files, [](const File &a, const File &b) { return a.used < b.used; });
  for (const File &file : files) {
    if (total <= maxBytes)
      break;
    if (!fs::remove(file.path))
      total -= file.bytes;
  }
}

/// Whether a version without subfolders gave a file this name: an entry's, or that of one being written.
static bool isEntryName(llvm::StringRef name) {
  llvm::StringRef rest = name.drop_front(std::min<size_t>(name.size(), kHashDigits));
  return llvm::all_of(name.take_front(kHashDigits), llvm::isHexDigit) && rest.consume_front(kExtension) &&
         (rest.empty() || rest.starts_with(".tmp"));
}

bool removeFlatEntries(llvm::StringRef folder, unsigned most) {
  std::error_code error;
  unsigned removed = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!isEntryName(llvm::sys::path::filename(it->path())))
      continue;
    if (removed == most)
      return true;
    removed += !fs::remove(it->path());
  }
  return false;
}

} // namespace tess::compiler
