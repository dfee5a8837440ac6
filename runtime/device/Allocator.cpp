//===- Allocator.cpp - caching allocator with a byte limit ----------------===//
#include "runtime/device/Allocator.h"
#include "ops/vocabulary/Error.h"
#include "runtime/device/Profiler.h"
#include "runtime/threads/Fork.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <string>

namespace tess::runtime {

static constexpr size_t kSmallest = 64, kThreadMax = 4096, kPowersMax = size_t(1) << 20, kPage = 4096;
static constexpr unsigned kThreadClasses = 7; // 64 .. 4096
static constexpr size_t kThreadClassBytes = size_t(64) << 10;
static constexpr int64_t kMostUntold = int64_t(64) << 10;
// Limit of the shared lists: kKeptAlways plus kKeptTimes the peak in use during the last kTurn to 2 kTurn requests that
// no list served. A network without gradients needs a block for each layer, but only two of them are in use at once.
static constexpr uint64_t kKeptAlways = uint64_t(256) << 20, kKeptTimes = 2;
static constexpr unsigned kTurn = 256;
// Bytes from which on free blocks make room.
static constexpr size_t kMuch = size_t(32) << 20;

size_t Allocator::roundUp(size_t bytes) {
  if (bytes <= kPowersMax)
    return llvm::bit_ceil(std::max(bytes, kSmallest));
  return llvm::alignTo(bytes, kPage);
}

static unsigned threadClass(size_t size) { return llvm::countr_zero(size) - 6; }

/// The free blocks and counters of one thread; both go to the owner when the thread ends.
class ThreadLists {
public:
  /// The lists of this thread, if `allocator` owns them (the first allocator that asks does); null when the thread is
  /// about to end.
  static ThreadLists *of(Allocator *allocator) {
    ThreadLists *mine = current;
    return LLVM_LIKELY(mine && mine->owner == allocator) ? mine : make(allocator);
  }
  ~ThreadLists() {
    flush();
    if (owner) {
      std::lock_guard<std::mutex> lock(owner->mutex);
      owner->allocations += allocations;
      owner->inUse += uint64_t(untold.load());
      llvm::erase(owner->threads, this);
    }
    current = nullptr;
    ended = true;
  }

  /// Returns a free block of the class of `size`, or null.
  void *take(size_t size);
  /// Keeps a block; false when its class has enough.
  bool put(Block block);
  /// Gives all blocks to the shared lists.
  void flush();

  // Only this thread writes them.
  std::atomic<int64_t> untold{0}; // change of the bytes in use that the owner does not know of yet
  std::atomic<uint64_t> allocations{0};

private:
  /// As of(), where this thread may have no lists yet.
  static ThreadLists *make(Allocator *allocator);
  void own(Allocator *allocator);
  /// Adds to `untold`, and reports it to the owner when it is large.
  void note(int64_t change);

  Allocator *owner = nullptr;
  std::array<std::vector<void *>, kThreadClasses> lists;
  static constinit thread_local bool ended;
  static constinit thread_local ThreadLists *current; // a look at an object would ask whether it is made
};

constinit thread_local bool ThreadLists::ended = false;
constinit thread_local ThreadLists *ThreadLists::current = nullptr;

ThreadLists *ThreadLists::make(Allocator *allocator) {
  if (ended)
    return nullptr;
  static thread_local ThreadLists lists;
  if (!lists.owner)
    lists.own(allocator);
  current = &lists;
  return lists.owner == allocator ? &lists : nullptr;
}

void ThreadLists::own(Allocator *allocator) {
  owner = allocator;
  std::lock_guard<std::mutex> lock(owner->mutex);
  owner->threads.push_back(this);
}

void ThreadLists::note(int64_t change) {
  int64_t sum = untold.load(std::memory_order_relaxed) + change;
  if (LLVM_LIKELY(uint64_t(sum + kMostUntold) <= 2 * kMostUntold && !profiler::on())) {
    untold.store(sum, std::memory_order_relaxed);
    return;
  }
  untold.store(0, std::memory_order_relaxed);
  owner->noteUse(sum);
}

void *ThreadLists::take(size_t size) {
  std::vector<void *> &list = lists[threadClass(size)];
  if (list.empty())
    return nullptr;
  void *data = list.back();
  list.pop_back();
  allocations.store(allocations.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  note(int64_t(size));
  return data;
}

bool ThreadLists::put(Block block) {
  std::vector<void *> &list = lists[threadClass(block.size)];
  if (list.size() >= kThreadClassBytes / block.size)
    return false;
  list.push_back(block.data);
  note(-int64_t(block.size));
  return true;
}

void ThreadLists::flush() {
  if (!owner)
    return;
  std::lock_guard<std::mutex> lock(owner->mutex);
  for (auto [index, list] : llvm::enumerate(lists)) {
    for (void *data : list)
      owner->putShared({data, kSmallest << index});
    list.clear();
  }
}

Allocator::Allocator(std::string name, Source &source, Lists lists)
    : name(std::move(name)), source(source), wanted(lists), lists(lists) {
  if (lists == Lists::PerThread)
    holdAcrossFork(mutex);
}

Allocator::~Allocator() { trim(); }

void Allocator::noteUse(int64_t change) {
  uint64_t now = inUse.fetch_add(uint64_t(change), std::memory_order_relaxed) + uint64_t(change);
  if (int64_t(now) <= 0) // other threads have not reported yet what they took
    return;
  for (std::atomic<uint64_t> *highest : {&peak, &recentPeak})
    for (uint64_t old = highest->load(std::memory_order_relaxed); now > old;)
      if (highest->compare_exchange_weak(old, now, std::memory_order_relaxed))
        break;
}

uint64_t Allocator::used() const {
  uint64_t sum = inUse;
  for (const ThreadLists *thread : threads)
    sum += uint64_t(thread->untold.load(std::memory_order_relaxed));
  return sum;
}

/// Bytes in free lists, including those of threads.
uint64_t Allocator::cached() const {
  uint64_t all = reserved;
  return all - std::min(all, used());
}

llvm::Expected<Block> Allocator::allocate(size_t bytes) {
  llvm::Expected<Block> block = find(bytes);
  if (LLVM_UNLIKELY(profiler::on()) && block)
    noteInProfile(*block, /*isTaken=*/true);
  return block;
}

/// Puts a block into the profile, when it is found or before it is free.
void Allocator::noteInProfile(Block block, bool isTaken) const {
  int64_t now = int64_t(inUse.load(std::memory_order_relaxed)) - (isTaken ? 0 : int64_t(block.size));
  profiler::recordBlock(name, block.data, block.size, isTaken, uint64_t(std::max<int64_t>(now, 0)));
}

llvm::Expected<Block> Allocator::find(size_t bytes) {
  if (bytes > (size_t(1) << 62)) {
    std::lock_guard<std::mutex> lock(mutex);
    return exhausted(bytes, bytes);
  }
  size_t size = lists == Lists::None ? std::max<size_t>(bytes, 1) : roundUp(bytes);
  ThreadLists *mine = lists == Lists::PerThread && size <= kThreadMax ? ThreadLists::of(this) : nullptr;
  if (mine)
    if (void *data = mine->take(size))
      return Block{data, size};
  return obtain(bytes, size);
}

/// The shared list that serves a request: of the same size, or above 1 MiB one that is at most an eighth larger.
std::map<size_t, Allocator::FreeList>::iterator Allocator::findShared(size_t size) {
  auto it = shared.lower_bound(size);
  while (it != shared.end() && it->second.blocks.empty())
    it = shared.erase(it);
  size_t most = size > kPowersMax ? size + size / 8 : size;
  return it == shared.end() || it->first > most ? shared.end() : it;
}

/// Takes a block from the shared lists.
void *Allocator::takeShared(size_t size, size_t &got) {
  auto it = findShared(size);
  if (it == shared.end())
    return nullptr;
  void *data = it->second.blocks.back();
  it->second.blocks.pop_back();
  it->second.lastUse = ++tick;
  got = it->first;
  return data;
}

void Allocator::putShared(Block block) {
  FreeList &list = shared[block.size];
  list.blocks.push_back(block.data);
  list.lastUse = ++tick;
}

/// Gives back the stalest blocks when the lists hold too much; called for each request that no list serves.
void Allocator::trimStale() {
  if (++sinceTurn == kTurn) {
    sinceTurn = 0;
    earlierPeak = recentPeak.exchange(uint64_t(std::max<int64_t>(int64_t(inUse.load()), 0)));
  }
  uint64_t most = kKeptAlways + kKeptTimes * std::max(earlierPeak, recentPeak.load());
  if (cached() > most)
    trimTo(most / 2); // half, so that this is rare
}

void Allocator::makeRoom(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  const size_t size = roundUp(bytes);
  const uint64_t free = cached();
  if (size < kMuch || free == 0 || findShared(size) != shared.end())
    return;
  trimTo(free - std::min<uint64_t>(free, size));
  source.trim();
}

/// Gives back the stalest blocks until the lists hold no more than `bytes`.
void Allocator::trimTo(uint64_t bytes) {
  std::vector<std::pair<uint64_t, size_t>> sizes; // the stalest size first
  for (const auto &[size, list] : shared)
    sizes.push_back({list.lastUse, size});
  llvm::sort(sizes);
  for (auto [lastUse, size] : sizes)
    for (size_t left = shared[size].blocks.size(); left > 0 && cached() > bytes; --left)
      giveBackOne(size);
}

void Allocator::giveBackOne(size_t size) {
  auto list = shared.find(size);
  source.giveBack(list->second.blocks.back(), size);
  list->second.blocks.pop_back();
  reserved -= size;
}

llvm::Expected<Block> Allocator::obtain(size_t request, size_t size) {
  std::unique_lock<std::mutex> lock(mutex);
  if (LLVM_UNLIKELY(untilFailure)) {
    --untilFailure;
    if (untilFailure == 0) {
      lists = wanted;
      return exhausted(request, size);
    }
  }
  size_t got = size;
  void *data = takeShared(size, got);
  if (!data) {
    trimStale();
    if (reserved.load() + size > limit.load()) {
      lock.unlock();
      trim();
      lock.lock();
    }
    if (reserved.load() + size <= limit.load())
      data = source.obtain(size);
    if (!data) { // the system may have room once free blocks are given back
      trimLocked();
      data = reserved.load() + size <= limit.load() ? source.obtain(size) : nullptr;
    }
    if (!data)
      return exhausted(request, size);
    peakReserved = std::max<uint64_t>(peakReserved, reserved += size);
    systemAllocations.fetch_add(1, std::memory_order_relaxed);
  }
  if (got > kThreadMax)
    ++largeInUse[got];
  allocations.fetch_add(1, std::memory_order_relaxed);
  noteUse(int64_t(got));
  return Block{data, got};
}

void Allocator::free(Block block) {
  if (!block.data)
    return;
  if (LLVM_UNLIKELY(profiler::on()))
    noteInProfile(block, /*isTaken=*/false);
  ThreadLists *mine = lists == Lists::PerThread && block.size <= kThreadMax ? ThreadLists::of(this) : nullptr;
  if (mine && mine->put(block))
    return;
  noteUse(-int64_t(block.size));
  std::lock_guard<std::mutex> lock(mutex);
  if (lists == Lists::None) {
    source.giveBack(block.data, block.size);
    reserved -= block.size;
  } else {
    putShared(block);
  }
  if (block.size > kThreadMax && --largeInUse[block.size] == 0)
    largeInUse.erase(block.size);
}

void Allocator::trimLocked() {
  for (const auto &[size, list] : shared)
    while (!list.blocks.empty())
      giveBackOne(size);
  shared.clear();
}

void Allocator::failRequest(std::optional<uint64_t> skipped) {
  std::lock_guard<std::mutex> lock(mutex);
  untilFailure = skipped ? *skipped + 1 : 0;
  lists = skipped && wanted == Lists::PerThread ? Lists::Shared : wanted;
}

void Allocator::setLimit(uint64_t bytes) {
  limit = bytes;
  if (reserved.load() > bytes)
    trim();
}

void Allocator::trim() {
  if (ThreadLists *mine = wanted == Lists::PerThread ? ThreadLists::of(this) : nullptr)
    mine->flush();
  std::lock_guard<std::mutex> lock(mutex);
  trimLocked();
  source.trim();
}

/// The error for a request that found no memory. The mutex must be held.
llvm::Error Allocator::exhausted(size_t request, size_t size) {
  std::string text;
  uint64_t large = 0;
  unsigned shown = 0;
  for (auto [blockSize, count] : llvm::reverse(largeInUse)) {
    large += blockSize * uint64_t(count);
    if (shown++ < 4)
      text += ", " + std::to_string(count) + " x " + std::to_string(blockSize);
  }
  uint64_t held = used(), bound = limit.load();
  std::string most = bound == UINT64_MAX ? "what the system has" : std::to_string(bound) + " bytes";
  return makeError(ErrorCode::ResourceExhausted,
                   name + ": memory must stay within " + most + ", got a request of " + llvm::Twine(request) +
                       " bytes (block of " + llvm::Twine(size) + ") with " + llvm::Twine(held) + " in use (" +
                       llvm::Twine(held - std::min(held, large)) + " in blocks of at most 4096" + text + "), " +
                       llvm::Twine(cached()) + " cached, peak " + llvm::Twine(std::max(peak.load(), held)));
}

void Allocator::resetPeak() {
  std::lock_guard<std::mutex> lock(mutex);
  peak = used();
  peakReserved = reserved;
}

AllocatorStats Allocator::stats() const {
  std::lock_guard<std::mutex> lock(mutex);
  AllocatorStats stats;
  stats.inUse = used();
  stats.cached = cached();
  stats.peak = std::max(peak.load(), stats.inUse);
  stats.peakReserved = peakReserved;
  stats.limit = limit;
  stats.allocations = allocations;
  for (const ThreadLists *thread : threads)
    stats.allocations += thread->allocations.load(std::memory_order_relaxed);
  stats.systemAllocations = systemAllocations;
  return stats;
}

} // namespace tess::runtime
