//===- SimMemory.h - memory that only a device addresses --------*- C++ -*-===//
//
// Device addresses lie in a range of the process that nobody may touch; the bytes
// behind them are a second mapping, which kernels reach after a translation. A
// host access to a device address is a fault, and so is a kernel's access beyond
// the end of an allocation or to one that was released.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/device/Allocator.h"

#include <map>
#include <mutex>

namespace tess::runtime {

/// The emulated accelerator's memory. Each of the first 16 384 live blocks ends, but for its alignment, at a page that
/// nothing is mapped to; further ones have a page behind them, too, but only launches check that they stay within.
/// Thread-safe.
class SimMemory : public Allocator::Source {
public:
  /// Reserves the addresses; none of the memory is taken before it is allocated.
  SimMemory();
  ~SimMemory() override;

  /// A device address; null when no range of it is free or the system gives no memory.
  void *obtain(size_t bytes) override;
  /// Unmaps the block: from now on an access to it is a fault.
  void giveBack(void *data, size_t bytes) override;

  /// In a forked child: its blocks are the parent's from now on, and what gives one back here leaves the bytes alone.
  void leaveToParent();

  /// Forbids launches to name a block whose memory is given back only later.
  void retire(void *data);
  /// Whether `lead` bytes behind `data` lies within a block that is allocated, or at its end. Null, which a value
  /// without elements may have, does.
  bool isLive(const void *data, int64_t lead = 0) const;
  /// Whether the `bytes` from `data` on do.
  bool holds(const void *data, size_t bytes) const;
  /// Where the bytes of a device address are for the host.
  char *hostAddress(const void *data) const {
    return data ? static_cast<char *>(const_cast<void *>(data)) + shift : nullptr;
  }

private:
  struct LiveBlock {
    size_t bytes;
    bool isRetired = false;
  };
  const std::pair<const uintptr_t, LiveBlock> *blockOf(uintptr_t address) const;

  int file = -1;
  char *base = nullptr; // of the device addresses
  ptrdiff_t shift = 0;  // from a device address to that of the host
  mutable std::mutex mutex;
  std::map<size_t, size_t> freeRanges; // pages, by the first one's number
  std::map<uintptr_t, LiveBlock> live; // by device address
};

} // namespace tess::runtime
