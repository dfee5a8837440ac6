//===- ObjectCache.cpp - images on disk -----------------------------------===//
#include "compiler/ObjectCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <vector>

namespace tess::compiler {
namespace {

// An entry: magic, key, features, image hash, bytes, kernel entries; every string behind its length.
constexpr llvm::StringLiteral kMagic = "tessera-image-2";

void putNumber(std::string &out, uint64_t value) {
  char raw[8];
  llvm::support::endian::write64le(raw, value);
  out.append(raw, 8);
}

void putString(std::string &out, llvm::StringRef text) {
  putNumber(out, text.size());
  out += text;
}

/// Reads what put* wrote; `ok` turns false at the first thing that does not fit.
struct Cursor {
  llvm::StringRef rest;
  bool ok = true;

  uint64_t number() {
    if (rest.size() < 8) {
      ok = false;
      return 0;
    }
    uint64_t value = llvm::support::endian::read64le(rest.data());
    rest = rest.drop_front(8);
    return value;
  }

  llvm::StringRef string() {
    uint64_t size = number();
    if (!ok || size > rest.size()) {
      ok = false;
      return "";
    }
    llvm::StringRef text = rest.take_front(size);
    rest = rest.drop_front(size);
    return text;
  }
};

std::string encode(llvm::StringRef key, const runtime::Image &image) {
  std::string out;
  putString(out, kMagic);
  putString(out, key);
  putString(out, image.features);
  putString(out, image.hash);
  putString(out, image.bytes);
  putNumber(out, image.entries.size());
  for (const runtime::KernelEntry &entry : image.entries) {
    putString(out, entry.name);
    putNumber(out, entry.offset);
    putNumber(out, entry.scratchBytesPerElement);
    putNumber(out, entry.picosecondsPerElement);
  }
  putNumber(out, llvm::xxh3_64bits(llvm::arrayRefFromStringRef(out)));
  return out;
}

std::optional<runtime::Image> decode(llvm::StringRef data, llvm::StringRef key) {
  if (data.size() < 8)
    return std::nullopt;
  llvm::StringRef body = data.drop_back(8);
  if (llvm::support::endian::read64le(body.end()) != llvm::xxh3_64bits(llvm::arrayRefFromStringRef(body)))
    return std::nullopt;
  Cursor in{body};
  if (in.string() != kMagic || in.string() != key)
    return std::nullopt;
  runtime::Image image;
  image.features = in.string().str();
  image.hash = in.string().str();
  image.bytes = in.string().str();
  uint64_t count = in.number();
  for (uint64_t i = 0; i < count && in.ok; ++i) {
    runtime::KernelEntry entry;
    entry.name = in.string().str();
    entry.offset = in.number();
    entry.scratchBytesPerElement = uint32_t(in.number());
    entry.picosecondsPerElement = uint32_t(in.number());
    image.entries.push_back(std::move(entry));
  }
  return in.ok ? std::optional(std::move(image)) : std::nullopt;
}

} // namespace

void ObjectCache::configure(llvm::StringRef newFolder, uint64_t limit) {
  std::lock_guard<std::mutex> lock(mutex);
  folder = newFolder.str();
  maxBytes = limit;
  bytesSinceEviction = limit; // the first store looks at what other processes left
}

std::string ObjectCache::pathOf(llvm::StringRef key) const {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(key));
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path,
                          llvm::utohexstr(hash.high64, true, 16) + llvm::utohexstr(hash.low64, true, 16) + ".img");
  return std::string(path);
}

std::optional<runtime::Image> ObjectCache::find(llvm::StringRef key) const {
  std::lock_guard<std::mutex> lock(mutex);
  if (folder.empty())
    return std::nullopt;
  auto buffer = llvm::MemoryBuffer::getFile(pathOf(key), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  return decode((*buffer)->getBuffer(), key);
}

void ObjectCache::store(llvm::StringRef key, const runtime::Image &image) {
  std::lock_guard<std::mutex> lock(mutex);
  if (folder.empty() || llvm::sys::fs::create_directories(folder))
    return;
  std::string data = encode(key, image);
  auto temp = llvm::sys::fs::TempFile::create(folder + "/new-%%%%%%%%");
  if (!temp) {
    llvm::consumeError(temp.takeError());
    return;
  }
  llvm::raw_fd_ostream os(temp->FD, /*shouldClose=*/false);
  os << data;
  os.flush();
  bool written = !os.has_error();
  os.clear_error();
  llvm::consumeError(written ? temp->keep(pathOf(key)) : temp->discard());
  // Looking at the whole folder on every store would cost more than compiling.
  if ((bytesSinceEviction += data.size()) > maxBytes / 8)
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
