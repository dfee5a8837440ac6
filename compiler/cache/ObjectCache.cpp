//===- ObjectCache.cpp - compiled code on disk ----------------------------===//
#include "compiler/cache/ObjectCache.h"
#include "compiler/cache/CacheFolder.h"
#include "ops/vocabulary/Error.h"
#include "runtime/schema/AtomicFile.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <array>
#include <condition_variable>
#include <map>
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

/// Bytes that may wait to be written; what comes above them is written by the call.
static constexpr uint64_t kMostWaiting = uint64_t(16) << 20;

/// What a cache and the thread that writes and trims for it share.
struct ObjectCache::State {
  struct Entry {
    std::string folder;
    unsigned subfolder;
    std::string data;
  };

  std::mutex mutex;
  std::condition_variable done; // an entry was written, or the thread has ended
  std::string folder;
  uint64_t maxBytes = 0;
  std::map<std::string, std::shared_ptr<const Entry>> waiting; // by file, until it is there
  uint64_t waitingBytes = 0;
  std::array<uint64_t, kNumSubfolders> written; // bytes in each subfolder, since it was trimmed last, about
  std::vector<unsigned> due;                    // subfolders to trim
  bool mayHaveFlat = true;                      // entries of earlier versions
  std::string failure;                          // of the first entry that could not be written

  void note(std::string why) {
    if (failure.empty())
      failure = std::move(why);
  }

  pid_t works = 0; // the process whose thread works, 0 while there is none: a forked child has no such thread
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
  state->failure.clear();
}

std::pair<std::string, uint64_t> ObjectCache::settings() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return {state->folder, state->maxBytes};
}

std::optional<std::string> ObjectCache::find(llvm::StringRef key) const {
  std::string folder = settings().first;
  if (folder.empty())
    return std::nullopt;
  std::string file = placeOf(folder, key).file;
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    if (auto found = state->waiting.find(file); found != state->waiting.end())
      return decode(found->second->data, key);
  }
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  return decode((*buffer)->getBuffer(), key);
}

/// Why the entry cannot be written, so that the next process compiles it again; empty: it is there.
static std::string writeEntry(llvm::StringRef folder, unsigned subfolder, llvm::StringRef file, llvm::StringRef data) {
  if (std::error_code error = llvm::sys::fs::create_directories(subfolderOf(folder, subfolder)))
    return (folder + ": must be able to make a folder there, got " + error.message()).str();
  if (llvm::Error error = runtime::replaceFile(file, data, runtime::Sync::Later))
    return takeError(std::move(error)).second;
  return "";
}

void ObjectCache::store(llvm::StringRef key, llvm::StringRef content) {
  std::string folder = settings().first;
  if (folder.empty())
    return;
  EntryPlace place = placeOf(folder, key);
  auto entry = std::make_shared<const State::Entry>(State::Entry{folder, place.subfolder, encode(key, content)});
  uint64_t bytes = entry->data.size();
  std::unique_lock<std::mutex> lock(state->mutex);
  bool waits = state->waitingBytes + bytes <= kMostWaiting;
  if (waits && state->waiting.try_emplace(place.file, entry).second)
    state->waitingBytes += bytes;
  noteWritten(place.subfolder, bytes);
  if (!waits) {
    lock.unlock();
    std::string why = writeEntry(folder, place.subfolder, place.file, entry->data);
    lock.lock();
    state->note(std::move(why));
  }
  if (state->works == ::getpid() || (state->waiting.empty() && state->due.empty()))
    return;
  state->works = ::getpid();
  std::thread(work, state).detach();
}

void ObjectCache::noteWritten(unsigned subfolder, uint64_t bytes) {
  uint64_t &written = state->written[subfolder];
  written += bytes;
  if (written <= bytesUntilDue(state->maxBytes))
    return;
  written = 0;
  state->due.push_back(subfolder);
}

/// Making a file takes a compilation's time where the folder is not in memory, and looking through a subfolder longer.
void ObjectCache::work(const std::shared_ptr<State> &state) {
  std::unique_lock<std::mutex> lock(state->mutex);
  while (!state->waiting.empty() || !state->due.empty())
    state->waiting.empty() ? trimNext(*state, lock) : writeNext(*state, lock);
  state->works = 0;
  state->done.notify_all();
}

void ObjectCache::writeNext(State &state, std::unique_lock<std::mutex> &lock) {
  auto [file, entry] = *state.waiting.begin();
  lock.unlock();
  std::string why = writeEntry(entry->folder, entry->subfolder, file, entry->data);
  lock.lock();
  state.note(std::move(why));
  state.waiting.erase(file);
  state.waitingBytes -= entry->data.size();
  state.done.notify_all();
}

void ObjectCache::trimNext(State &state, std::unique_lock<std::mutex> &lock) {
  constexpr unsigned flatPerRound = 256;
  unsigned subfolder = state.due.back();
  state.due.pop_back();
  std::string folder = state.folder;
  uint64_t maxBytes = state.maxBytes / kNumSubfolders;
  bool mayHaveFlat = state.mayHaveFlat;
  lock.unlock();
  trimSubfolder(folder, subfolder, maxBytes);
  mayHaveFlat = mayHaveFlat && removeFlatEntries(folder, flatPerRound);
  lock.lock();
  if (folder == state.folder)
    state.mayHaveFlat = mayHaveFlat;
}

void ObjectCache::awaitWritten() {
  std::unique_lock<std::mutex> lock(state->mutex);
  state->done.wait(lock, [&] { return state->works != ::getpid() || state->waiting.empty(); });
}

std::string ObjectCache::failure() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->failure;
}

void ObjectCache::awaitTrimmed() {
  std::unique_lock<std::mutex> lock(state->mutex);
  state->done.wait(lock, [&] { return state->works != ::getpid(); });
}

void ObjectCache::beforeFork() { state->mutex.lock(); }

void ObjectCache::afterFork(bool isChild) {
  if (isChild) { // the parent's thread writes what waits
    state->waiting.clear();
    state->waitingBytes = 0;
    state->due.clear();
  }
  state->mutex.unlock();
}

} // namespace tess::compiler
