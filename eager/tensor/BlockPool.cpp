//===- BlockPool.cpp - blocks without heap traffic ------------------------===//
//
// The lists are a constant-initialised thread_local without a destructor, so
// that a hit needs no guard; a second thread_local empties them when the thread
// ends.
//
//===----------------------------------------------------------------------===//
#include "eager/tensor/BlockPool.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

namespace tess::eager {

namespace {

/// Under AddressSanitizer every block comes from the heap, so that a use after its release is reported.
#ifdef TESS_SANITIZE_ADDRESS
constexpr bool kPooled = false;
#else
constexpr bool kPooled = true;
#endif

constexpr unsigned kMinShift = 6, kMaxShift = std::bit_width(kPoolLimit) - 1;
constexpr unsigned kClasses = kMaxShift - kMinShift + 1;
/// Limit of the bytes in one list, which may always have one block.
constexpr uint32_t kListBytes = 256 << 10;

struct FreeLists {
  void *head[kClasses];
  uint32_t room[kClasses]; // for so many more blocks; 0 before the first one, and when the thread is ending
  bool opened;
};
constinit thread_local FreeLists lists = {};

struct Emptier {
  ~Emptier() {
    std::ranges::fill(lists.room, 0);
    for (void *&head : lists.head)
      while (void *block = head) {
        head = *static_cast<void **>(block);
        std::free(block);
      }
  }
  /// Constructs it on this thread, and gives the lists room.
  void open() {
    lists.opened = true;
    for (unsigned c = 0; c < kClasses; ++c)
      lists.room[c] = std::max(kListBytes >> (c + kMinShift), 1u);
  }
};
thread_local Emptier emptier;

/// Whether a list without room has some after all.
LLVM_ATTRIBUTE_NOINLINE bool findRoom(unsigned c) {
  if (!lists.opened)
    emptier.open();
  return lists.room[c];
}

unsigned classOf(size_t bytes) { return bytes <= (size_t(1) << kMinShift) ? 0 : std::bit_width(bytes - 1) - kMinShift; }

void *fromHeap(size_t bytes) {
  void *block = std::aligned_alloc(64, (bytes + 63) & ~size_t(63));
  if (!block)
    llvm::report_bad_alloc_error("eager: memory for a tensor object or a recording");
  return block;
}

} // namespace

void *poolAllocate(size_t bytes) {
  if (kPooled && bytes <= kPoolLimit) {
    unsigned c = classOf(bytes);
    if (void *block = lists.head[c]) {
      lists.head[c] = *static_cast<void **>(block);
      ++lists.room[c];
      return block;
    }
    return fromHeap(size_t(1) << (c + kMinShift));
  }
  return fromHeap(bytes);
}

void poolFree(void *block, size_t bytes) {
  if (kPooled && bytes <= kPoolLimit) {
    unsigned c = classOf(bytes);
    if (lists.room[c] || findRoom(c)) {
      *static_cast<void **>(block) = lists.head[c];
      lists.head[c] = block;
      --lists.room[c];
      return;
    }
  }
  std::free(block);
}

} // namespace tess::eager
