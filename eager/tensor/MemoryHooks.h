//===- MemoryHooks.h - what storages tell, and ask --------------*- C++ -*-===//
//
// Who evicts values (eviction/) and who names the largest ones (MemoryReport.h)
// know storages, and storages know these functions.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/Support/Error.h"

#include <atomic>
#include <cstddef>

namespace tess::runtime {
class Device;
} // namespace tess::runtime

namespace tess::eager {

class Storage;

/// The functions; eager's start sets them before any storage is made.
struct MemoryHooks {
  /// Called before memory is taken while eviction is active: evicts values down to the threshold.
  llvm::Error (*makeRoom)(size_t bytes, runtime::Device &device) = nullptr;
  /// Called when there is no memory: evicts values of at least `bytes`; false: there was none.
  bool (*evictFor)(size_t bytes, runtime::Device &device) = nullptr;
  /// Makes an evicted value again.
  llvm::Error (*restore)(Storage &storage) = nullptr;
  /// Called when a storage with a lineage dies.
  void (*noteDeath)(Storage &storage) = nullptr;
  /// Called when a storage that is noted dies.
  void (*forgetLarge)(const Storage &storage) = nullptr;
  /// Adds the largest values to an error about memory.
  llvm::Error (*withLargest)(llvm::Error error, const runtime::Device &device) = nullptr;
};
extern constinit MemoryHooks memoryHooks;

namespace eviction {
extern constinit std::atomic<bool> active;
/// Whether calls have to look after evicted values: eviction is enabled, or something is evicted.
inline bool isActive() { return active.load(std::memory_order_relaxed); }
} // namespace eviction

} // namespace tess::eager
