//===- Allocator.h - caching allocator with a byte limit --------*- C++ -*-===//
//
// Size classes: powers of two from 64 bytes to 1 MiB, multiples of the page
// above. A free block goes to a list of its class; blocks of at most 4 KiB go
// through a list per thread first, and are counted by thread: the hot path
// writes no shared line.
//
// Programs of ever other sizes leave blocks that nothing asks for again. So when
// no list serves a request and more lies in them than some times what was in use
// lately, the classes that served longest ago go back to the system. Programs
// that repeat their sizes find every block in a list, and give none back.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/device/Device.h"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace tess::runtime {

/// Bytes and counts since the start of the process.
struct AllocatorStats {
  uint64_t inUse = 0;        // bytes that callers hold
  uint64_t cached = 0;       // bytes in free lists
  uint64_t peak = 0;         // highest `inUse` since resetPeak; a thread may hold 64 KiB in small blocks beside it
  uint64_t peakReserved = 0; // highest `inUse` + `cached` since then
  uint64_t limit = 0;        // highest allowed inUse + cached
  uint64_t allocations = 0;
  uint64_t systemAllocations = 0; // those that no free list could serve
};

class ThreadLists;

/// Memory from a source, kept in lists when it is freed. Thread-safe.
class Allocator {
public:
  /// Where the memory comes from; called by any thread.
  class Source {
  public:
    virtual ~Source() = default;
    /// 64-byte aligned, or null.
    virtual void *obtain(size_t bytes) = 0;
    /// `data` is what obtain(bytes) gave.
    virtual void giveBack(void *data, size_t bytes) = 0;
    /// Called when much has been given back, which a heap in between may still hold.
    virtual void trim() {}
  };

  /// Which free blocks are kept.
  enum class Lists : uint8_t {
    None,      // no block, and none larger than asked for: what goes beyond one meets the source's guards
    Shared,    // for any thread
    PerThread, // and small ones by thread; only for an allocator that lives for ever
  };
  Allocator(std::string name, Source &source, Lists lists);
  ~Allocator();

  /// At least `bytes`, not cleared; ResourceExhausted with a breakdown when the limit or the source leaves no room.
  llvm::Expected<Block> allocate(size_t bytes);
  /// Takes back a block of this allocator, from any thread; an empty block is ignored.
  void free(Block block);
  /// The size of the block that a request of `bytes` gets, where lists are kept.
  static size_t roundUp(size_t bytes);

  /// Makes the request after the next `skipped` ones fail, once; none: no request fails. For tests of what an error
  /// leaves behind.
  void failRequest(std::optional<uint64_t> skipped);
  /// Sets the limit in bytes. When more is reserved, free blocks go back to the source, except the small ones in the
  /// lists of other threads.
  void setLimit(uint64_t bytes);
  AllocatorStats stats() const;
  /// Sets the peaks to what is in use and reserved now.
  void resetPeak();
  /// Gives free blocks back, of the classes that served longest ago, so that a large block which its owner keeps takes
  /// their place: the memory of a program, beside what its operators took when they ran one by one.
  void makeRoom(size_t bytes);
  /// Gives the free lists of this thread and the shared ones back to the source.
  void trim();

private:
  friend class ThreadLists;
  struct FreeList {
    std::vector<void *> blocks;
    uint64_t lastUse = 0; // in ticks
  };
  llvm::Expected<Block> find(size_t bytes);
  void noteInProfile(Block block, bool isTaken) const;
  void putShared(Block block);
  llvm::Expected<Block> obtain(size_t request, size_t size);
  std::map<size_t, FreeList>::iterator findShared(size_t size);
  void *takeShared(size_t size, size_t &got);
  void trimLocked();
  void trimStale();
  void trimTo(uint64_t bytes);
  /// A free block of a list that has some.
  void giveBackOne(size_t size);
  llvm::Error exhausted(size_t request, size_t size);
  void noteUse(int64_t change);
  uint64_t used() const;
  uint64_t cached() const;

  std::string name;
  Source &source;
  const Lists wanted;
  std::atomic<Lists> lists;  // shared ones while a request has yet to fail, so that each passes obtain()
  uint64_t untilFailure = 0; // requests, the failing one included; 0: none fails
  std::atomic<uint64_t> limit{UINT64_MAX}, reserved{0}, allocations{0}, systemAllocations{0};
  std::atomic<uint64_t> inUse{0}; // but for what threads have not told yet
  std::atomic<uint64_t> peak{0};
  std::atomic<uint64_t> recentPeak{0}; // of `inUse`, since the last turn
  mutable std::mutex mutex;
  std::vector<const ThreadLists *> threads; // that have lists of ours
  std::map<size_t, FreeList> shared;        // by size
  std::map<size_t, int64_t> largeInUse;     // blocks above 4 KiB, by size
  uint64_t peakReserved = 0;
  uint64_t tick = 0;
  uint64_t earlierPeak = 0; // before the last turn
  unsigned sinceTurn = 0;   // requests that no list served
};

} // namespace tess::runtime
