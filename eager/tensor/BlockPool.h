//===- BlockPool.h - blocks without heap traffic ----------------*- C++ -*-===//
//
// Tensor objects, storages and the lists of recordings come from per-thread
// free lists, bounded in bytes: a list that is full gives its blocks back to
// the heap. The heap gives the pages of a long list back to the system, and
// takes them anew for the next one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <vector>

namespace tess::eager {

/// Largest block that the pool keeps; greater requests go to the heap.
constexpr size_t kPoolLimit = 512 << 10;

/// `bytes` of memory aligned to 64; never null (out of memory ends the process, as operator new does).
void *poolAllocate(size_t bytes);
/// Gives back a block of poolAllocate(bytes); any thread may.
void poolFree(void *block, size_t bytes);

/// An allocator of the standard library's kind, over the pool.
template <typename T> struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <typename U> PoolAllocator(const PoolAllocator<U> &) {}
  static T *allocate(size_t count) { return static_cast<T *>(poolAllocate(count * sizeof(T))); }
  static void deallocate(T *block, size_t count) { poolFree(block, count * sizeof(T)); }
  bool operator==(const PoolAllocator &) const = default;
};

/// A list that is made and dropped over and over.
template <typename T> using PooledVector = std::vector<T, PoolAllocator<T>>;

} // namespace tess::eager
