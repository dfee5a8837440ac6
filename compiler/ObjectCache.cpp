//===- ObjectCache.cpp - compiled code on disk ----------------------------===//
#include "compiler/ObjectCache.h"
#include "compiler/CacheFolder.h"
#include "runtime/schema/AtomicFile.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>
#include <xxhash.h>

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

uint64_t hashOf(llvm::StringRef text) { return XXH3_64bits(text.data(), text.size()); }

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

} // namespace

/// What may be written to a subfolder until it is trimmed.
static uint64_t bytesUntilDue(uint64_t maxBytes) { return maxBytes / kNumSubfolders / 8; }

/// What a cache and the thread that trims its folder share.
struct ObjectCache::State {
  std::mutex mutex;
  std::condition_variable idle; // the thread has ended
  std::string folder;
  uint64_t maxBytes = 0;
  std::array<uint64_t, kNumSubfolders> written; // bytes in each subfolder, since it was trimmed last, about
  std::vector<unsigned> due;                    // subfolders to trim
  bool mayHaveFlat = true;                      // entries of earlier versions
  pid_t trims = 0; // the process whose thread trims, 0 while there is none: a forked child has no such thread
};

ObjectCache::ObjectCache() : state(std::make_shared<State>()) {}

void ObjectCache::configure(llvm::StringRef folder, uint64_t maxBytes) {
  std::lock_guard<std::mutex> lock(state->mutex);
  state->folder = folder.str();
  state->maxBytes = maxBytes;
  // A process that writes few entries trims seldom, and many of them as often as one that writes as much.
  uint64_t most = bytesUntilDue(maxBytes);
  std::minstd_rand random(std::random_device{}());
  for (uint64_t &written : state->written)
    written = std::uniform_int_distribution<uint64_t>(0, most)(random);
  state->mayHaveFlat = true;
}

std::pair<std::string, uint64_t> ObjectCache::settings() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return {state->folder, state->maxBytes};
}

std::optional<std::string> ObjectCache::find(llvm::StringRef key) const {
  std::string folder = settings().first;
  if (folder.empty())
    return std::nullopt;
  auto buffer =
      llvm::MemoryBuffer::getFile(placeOf(folder, key).file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  return decode((*buffer)->getBuffer(), key);
}

void ObjectCache::store(llvm::StringRef key, llvm::StringRef content) {
  std::string folder = settings().first;
  if (folder.empty())
    return;
  EntryPlace place = placeOf(folder, key);
  if (llvm::sys::fs::create_directories(subfolderOf(folder, place.subfolder)))
    return;
  std::string data = encode(key, content);
  // An entry that cannot be written is compiled again by the next process.
  llvm::consumeError(runtime::replaceFile(place.file, data, runtime::Sync::Later));
  noteWritten(place.subfolder, data.size());
}

/// Looking through a subfolder takes long where its files are not in memory, so that a thread does it.
void ObjectCache::noteWritten(unsigned subfolder, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(state->mutex);
  uint64_t &written = state->written[subfolder];
  written += bytes;
  if (written <= bytesUntilDue(state->maxBytes))
    return;
  written = 0;
  state->due.push_back(subfolder);
  if (state->trims == ::getpid())
    return;
  state->trims = ::getpid();
  std::thread(trim, state).detach(); // a process that ends meanwhile leaves the rest to a later one
}

void ObjectCache::trim(const std::shared_ptr<State> &state) {
  constexpr unsigned flatPerRound = 256;
  std::unique_lock<std::mutex> lock(state->mutex);
  while (!state->due.empty()) {
    unsigned subfolder = state->due.back();
    state->due.pop_back();
    std::string folder = state->folder;
    uint64_t maxBytes = state->maxBytes / kNumSubfolders;
    bool mayHaveFlat = state->mayHaveFlat;
    lock.unlock();
    trimSubfolder(folder, subfolder, maxBytes);
    mayHaveFlat = mayHaveFlat && removeFlatEntries(folder, flatPerRound);
    lock.lock();
    if (folder == state->folder)
      state->mayHaveFlat = mayHaveFlat;
  }
  state->trims = 0;
  state->idle.notify_all();
}

void ObjectCache::awaitTrimming() {
  std::unique_lock<std::mutex> lock(state->mutex);
  state->idle.wait(lock, [&] { return state->trims != ::getpid(); });
}

} // namespace tess::compiler
