//===- BlockPool.h - small blocks without heap traffic ----------*- C++ -*-===//
//
// Tensor objects and small storages come from per-thread free lists, bounded
// in bytes: a list that is full gives its blocks back to the heap.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>

namespace tess::eager {

/// Largest block that the pool keeps; greater requests go to the heap.
constexpr size_t kPoolLimit = 4096;

/// `bytes` of memory aligned to 64; never null (out of memory ends the process, as operator new does).
void *poolAllocate(size_t bytes);
/// Gives back a block of poolAllocate(bytes); any thread may.
void poolFree(void *block, size_t bytes);

} // namespace tess::eager
