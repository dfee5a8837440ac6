//===- Eviction.h - tensors whose memory is given up for a while -*- C++ -*-===//
//
// Dynamic tensor rematerialisation: where memory is short, values that calls can
// make again give up theirs, those first that cost little, are large and were
// not used for long. Who reads one has it made again (M. Kirisame et al.: Dynamic
// Tensor Rematerialization, ICLR 2021, arXiv:2006.09616). The plan follows from
// the calls alone: costs are estimates, and no clock is read.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/eviction/Lineage.h"
#include "eager/tensor/MemoryHooks.h"
#include "eager/tensor/Tensor.h"

namespace tess::eager::eviction {

/// Settings of users, by MegEngine's names.
struct Settings {
  uint64_t threshold = 0;       // bytes in use on a device from which on values are evicted; 0: when memory runs out
  int64_t leastBytes = 1 << 20; // of a value; smaller ones stay
  bool samples = false;         // a choice looks at the square root of all values
};
Settings settings();
void set(const Settings &settings);

/// Switches recording and evicting on, and off; values that are evicted then are made again when they are read.
void enable();
void disable();
bool isEnabled();

/// Counts since the process began, and values that are evicted now.
struct Stats {
  uint64_t evictions = 0, recomputations = 0, evictedBytes = 0, evictedNow = 0;
};
Stats stats();

/// Runs a recipe again on these operands; results are row-major and written.
using Rerun = llvm::Expected<Tensors> (*)(const Recipe &recipe, llvm::ArrayRef<TensorRef> operands);
/// Sets the hooks of storages; part of eager's start.
void start(Rerun rerun);

/// While alive, the values that it was given stay in memory.
class Use {
public:
  Use() = default;
  ~Use();
  Use(const Use &) = delete;
  /// Makes the value again if it was evicted, and pins it.
  llvm::Error add(Storage &storage);
  llvm::Error add(const TensorImpl &tensor) { return add(tensor.storage()); }
  /// Does the same before the memory is written in place: evicted values that are made from it are made now.
  llvm::Error addWritten(Storage &storage);

private:
  llvm::SmallVector<CellRef, 4> cells;
};

/// Makes the value again if it was evicted.
llvm::Error restore(Storage &storage);
/// Prepares memory whose address leaves eager: it is never evicted, and nothing is made again from it.
llvm::Error expose(Storage &storage);
/// Evicts the value now where it can be made again; false: it cannot.
llvm::Expected<bool> drop(Storage &storage);

/// Keeps a call that ran: its results may be evicted from now on. Does nothing where it could not be repeated with the
/// same bits. `recipe`: operator, attributes, device and cost.
void record(const Recipe &recipe, llvm::ArrayRef<TensorImpl *> operands, llvm::ArrayRef<TensorRef> results);

/// Evicts values until `bytes` more stay below the threshold, or none is left. An error when the user interrupts.
llvm::Error makeRoom(size_t bytes, runtime::Device &device);
/// Evicts values of at least `bytes` together; false: there was none.
bool evictFor(size_t bytes, runtime::Device &device);

} // namespace tess::eager::eviction
