//===- Allocator.cpp - caching allocator with a byte limit ----------------===//
#include "runtime/Allocator.h"
#include "ops/Error.h"
#include "runtime/Fork.h"
#include "runtime/Profiler.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <string>

namespace tess::runtime {

static constexpr size_t kSmallest = 64, kThreadMax = 4096, kPowersMax = size_t(1) << 20, kPage = 4096;
static constexpr unsigned kThreadClasses = 7; // 64 .. 4096
static constexpr size_t kThreadClassBytes = size_t(64) << 10;

size_t Allocator::roundUp(size_t bytes) {
  if (bytes <= kPowersMax)
    return llvm::bit_ceil(std::max(bytes, kSmallest));
  return llvm::alignTo(bytes, kPage);
}

static unsigned threadClass(size_t size) { return llvm::countr_zero(size) - 6; }

/// Free blocks of one thread; they go to the shared lists when the thread ends.
struct ThreadLists {
  Allocator *owner = nullptr;
  std::array<std::vector<void *>, kThreadClasses> lists;

  void flush() {
    if (!owner)
      return;
    std::lock_guard<std::mutex> lock(owner->mutex);
    for (auto [index, list] : llvm::enumerate(lists)) {
      std::vector<void *> &target = owner->shared[kSmallest << index];
      target.insert(target.end(), list.begin(), list.end());
      list.clear();
    }
  }
  ~ThreadLists() {
    flush();
    ended = true;
  }
  static thread_local bool ended;
};

thread_local bool ThreadLists::ended = false;
static thread_local ThreadLists threadLists;

/// The lists of this thread if `allocator` owns them (the first one that asks does); null when the thread is about to
/// end.
static ThreadLists *listsFor(Allocator *allocator) {
  if (ThreadLists::ended)
    return nullptr;
  if (!threadLists.owner)
    threadLists.owner = allocator;
  return threadLists.owner == allocator ? &threadLists : nullptr;
}

Allocator::Allocator(std::string name, Source &source, Lists lists)
    : name(std::move(name)), source(source), lists(lists) {
  if (lists == Lists::PerThread)
    holdAcrossFork(mutex);
}

Allocator::~Allocator() { trim(); }

void Allocator::noteUse(size_t size) {
  uint64_t now = inUse.fetch_add(size, std::memory_order_relaxed) + size;
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (profiler::on())
    profiler::recordMemory("memory of " + name, now);
  for (uint64_t old = peak.load(std::memory_order_relaxed); now > old;)
    if (peak.compare_exchange_weak(old, now, std::memory_order_relaxed))
      break;
}

llvm::Expected<Block> Allocator::allocate(size_t bytes) {
  if (bytes > (size_t(1) << 62))
    return exhausted(bytes, bytes);
  size_t size = lists == Lists::None ? std::max<size_t>(bytes, 1) : roundUp(bytes);
  ThreadLists *mine = lists == Lists::PerThread && size <= kThreadMax ? listsFor(this) : nullptr;
  if (mine) {
    std::vector<void *> &list = mine->lists[threadClass(size)];
    if (!list.empty()) {
      void *data = list.back();
      list.pop_back();
      noteUse(size);
      return Block{data, size};
    }
  }
  return obtain(bytes, size);
}

/// From the shared lists: the same size, or above 1 MiB one that is at most an eighth larger.
void *Allocator::takeShared(size_t size, size_t &got) {
  auto it = shared.lower_bound(size);
  while (it != shared.end() && it->second.empty())
    it = shared.erase(it);
  size_t most = size > kPowersMax ? size + size / 8 : size;
  if (it == shared.end() || it->first > most)
    return nullptr;
  void *data = it->second.back();
  it->second.pop_back();
  got = it->first;
  return data;
}

llvm::Expected<Block> Allocator::obtain(size_t request, size_t size) {
  std::unique_lock<std::mutex> lock(mutex);
  size_t got = size;
  void *data = takeShared(size, got);
  if (!data) {
    if (reserved.load() + size > limit.load()) {
      lock.unlock();
      trim();
      lock.lock();
    }
    if (reserved.load() + size <= limit.load())
      data = source.obtain(size);
    if (!data) { // the system may have room once we give back what we only keep
      trimLocked();
      data = reserved.load() + size <= limit.load() ? source.obtain(size) : nullptr;
    }
    if (!data)
      return exhausted(request, size);
    reserved += size;
    systemAllocations.fetch_add(1, std::memory_order_relaxed);
  }
  if (got > kThreadMax)
    ++largeInUse[got];
  noteUse(got);
  return Block{data, got};
}

void Allocator::free(Block block) {
  if (!block.data)
    return;
  uint64_t now = inUse.fetch_sub(block.size, std::memory_order_relaxed) - block.size;
  if (profiler::on())
    profiler::recordMemory("memory of " + name, now);
  ThreadLists *mine = lists == Lists::PerThread && block.size <= kThreadMax ? listsFor(this) : nullptr;
  if (mine) {
    std::vector<void *> &list = mine->lists[threadClass(block.size)];
    if (list.size() < kThreadClassBytes / block.size) {
      list.push_back(block.data);
      return;
    }
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (lists == Lists::None) {
    source.giveBack(block.data, block.size);
    reserved -= block.size;
  } else {
    shared[block.size].push_back(block.data);
  }
  if (block.size > kThreadMax && --largeInUse[block.size] == 0)
    largeInUse.erase(block.size);
}

void Allocator::trimLocked() {
  for (auto &[size, list] : shared) {
    for (void *data : list)
      source.giveBack(data, size);
    reserved -= size * list.size();
  }
  shared.clear();
}

void Allocator::setLimit(uint64_t bytes) {
  limit = bytes;
  if (reserved.load() > bytes)
    trim();
}

void Allocator::trim() {
  if (ThreadLists *mine = lists == Lists::PerThread ? listsFor(this) : nullptr)
    mine->flush();
  std::lock_guard<std::mutex> lock(mutex);
  trimLocked();
}

/// The mutex is held, or the request is so large that nothing else counts.
llvm::Error Allocator::exhausted(size_t request, size_t size) {
  std::string text;
  uint64_t large = 0;
  unsigned shown = 0;
  for (auto [blockSize, count] : llvm::reverse(largeInUse)) {
    large += blockSize * uint64_t(count);
    if (shown++ < 4)
      text += ", " + std::to_string(count) + " x " + std::to_string(blockSize);
  }
  uint64_t used = inUse.load(), bound = limit.load();
  std::string most = bound == UINT64_MAX ? "what the system has" : std::to_string(bound) + " bytes";
  return makeError(ErrorCode::ResourceExhausted,
                   name + ": memory must stay within " + most + ", got a request of " + llvm::Twine(request) +
                       " bytes (block of " + llvm::Twine(size) + ") with " + llvm::Twine(used) + " in use (" +
                       llvm::Twine(used - std::min(used, large)) + " in blocks of at most 4096" + text + "), " +
                       llvm::Twine(reserved.load() - std::min(reserved.load(), used)) + " cached, peak " +
                       llvm::Twine(peak.load()));
}

AllocatorStats Allocator::stats() const {
  AllocatorStats stats;
  stats.inUse = inUse;
  uint64_t all = reserved;
  stats.cached = all - std::min(all, stats.inUse);
  stats.peak = peak;
  stats.limit = limit;
  stats.allocations = allocations;
  stats.systemAllocations = systemAllocations;
  return stats;
}

} // namespace tess::runtime
