//===- MemoryPlan.h - offsets of temporaries in one arena -------*- C++ -*-===//
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace tess::runtime {

/// Memory that lives from step `first` to step `last`, both included.
struct Allocation {
  int64_t bytes = 0;
  int32_t first = 0, last = 0;
};

/// Where the allocations lie in one arena.
struct MemoryPlan {
  std::vector<int64_t> offsets; // 64-byte aligned, in the order of the allocations
  int64_t bytes = 0;            // of the arena
};

/// Places allocations so that those that live at the same time do not overlap, each in the smallest gap that holds it.
/// Up to some thousands are placed by size, the largest first; more in the order of their steps. A pure function.
MemoryPlan planMemory(llvm::ArrayRef<Allocation> allocations);

} // namespace tess::runtime
