//===- ObjectCache.cpp - compiled code on disk ----------------------------===//
#include "compiler/ObjectCache.h"
#include "runtime/schema/AtomicFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace tess::compiler {
namespace {

// An entry consists of the magic, the key and the content, each preceded by its length, and a hash of all that.
constexpr llvm::StringLiteral kMagic = "tessera-cache-3";

void putString(std::string &out, llvm::StringRef text) {
  char size[8];
  llvm::support::endian::write64le(size, text.size());
  out.append(size, 8);
  out += text;
}

/// Removes a string that putString wrote from the front of `rest`; none when `rest` is too short.
std::optional<llvm::StringRef> takeString(llvm::StringRef &rest) {
  if (rest.size() < 8)
    return std::nullopt;
  uint64_t size = llvm::support::endian::read64le(rest.data());
  rest = rest.drop_front(8);
  if (size > rest.size())
    return std::nullopt;
  llvm::StringRef text = rest.take_front(size);
  rest = rest.drop_front(size);
  return text;
}

uint64_t hashOf(llvm::StringRef text) { return llvm::xxh3_64bits(llvm::arrayRefFromStringRef(text)); }

std::string encode(llvm::StringRef key, llvm::StringRef content) {
  std::string out;
  out.reserve(key.size() + content.size() + 64);
  putString(out, kMagic);
  putString(out, key);
  putString(out, content);
  char hash[8];
  llvm::support::endian::write64le(hash, hashOf(out));
  return out.append(hash, 8);
}

std::optional<std::string> decode(llvm::StringRef data, llvm::StringRef key) {
  if (data.size() < 8)
    return std::nullopt;
  llvm::StringRef body = data.drop_back(8);
  if (llvm::support::endian::read64le(body.end()) != hashOf(body))
    return std::nullopt;
  if (takeString(body) != kMagic || takeString(body) != key)
    return std::nullopt;
  std::optional<llvm::StringRef> content = takeString(body);
  return content && body.empty() ? std::optional(content->str()) : std::nullopt;
}

/// Whether the file was left by a process that ended while it wrote an entry.
bool isAbandoned(llvm::StringRef path, const llvm::sys::fs::basic_file_status &status) {
  constexpr std::chrono::hours longest(1); // upper bound of the time to write an entry
  return llvm::sys::path::extension(path).starts_with(".tmp") &&
         status.getLastModificationTime() + longest < std::chrono::system_clock::now();
}

} // namespace

void ObjectCache::configure(llvm::StringRef newFolder, uint64_t limit) {
  std::lock_guard<std::mutex> lock(mutex);
  folder = newFolder.str();
  maxBytes = limit;
  bytesSinceEviction = limit; // so that the first store evicts: other processes may have filled the folder
}

std::string ObjectCache::pathOf(llvm::StringRef key) const {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(key));
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path,
                          llvm::utohexstr(hash.high64, true, 16) + llvm::utohexstr(hash.low64, true, 16) + ".img");
  return std::string(path);
}

std::pair<std::string, uint64_t> ObjectCache::settings() const {
  std::lock_guard<std::mutex> lock(mutex);
  return {folder, maxBytes};
}

std::optional<std::string> ObjectCache::find(llvm::StringRef key) const {
  std::lock_guard<std::mutex> lock(mutex);
  if (folder.empty())
    return std::nullopt;
  auto buffer = llvm::MemoryBuffer::getFile(pathOf(key), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  return decode((*buffer)->getBuffer(), key);
}

void ObjectCache::store(llvm::StringRef key, llvm::StringRef content) {
  std::lock_guard<std::mutex> lock(mutex);
  if (folder.empty() || llvm::sys::fs::create_directories(folder))
    return;
  std::string data = encode(key, content);
  // An entry that cannot be written is compiled again by the next process.
  llvm::consumeError(runtime::replaceFile(pathOf(key), data, runtime::Sync::Later));
  // Looking through the whole folder at every store would cost more than compiling.
  bytesSinceEviction += data.size();
  if (bytesSinceEviction > maxBytes / 8)
    evict();
}

void ObjectCache::evict() {
  struct File {
    llvm::sys::TimePoint<> used;
    uint64_t bytes;
    std::string path;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    llvm::ErrorOr<llvm::sys::fs::basic_file_status> status = it->status();
    if (status && isAbandoned(it->path(), *status))
      (void)llvm::sys::fs::remove(it->path()); // a later eviction tries again
    if (!status || !llvm::StringRef(it->path()).ends_with(".img"))
      continue;
    files.push_back({status->getLastAccessedTime(), status->getSize(), it->path()});
    total += status->getSize();
  }
  llvm::sort(files, [](const File &a, const File &b) { return a.used < b.used; });
  for (const File &file : files) {
    if (total <= maxBytes)
      break;
    if (!llvm::sys::fs::remove(file.path))
      total -= file.bytes;
  }
  bytesSinceEviction = 0;
}

} // namespace tess::compiler
