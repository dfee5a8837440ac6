//===- Batches.h - independent kernels as one launch ------------*- C++ -*-===//
//
// Elementwise kernels in a row that touch no memory of each other, such as the
// updates of an optimizer, run in one parallel region: shares of the large
// ones, whole small ones side by side.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/bind/Commands.h"
#include "runtime/bind/StoragePlan.h"

namespace tess::runtime {

/// Replaces neighbouring launches of `bound` that touch no memory of each other by batches. Pointers of launches must
/// be final. Returns the serial time, in ps, of kernels that ran on one thread and now run beside others.
int64_t batchLaunches(Commands &bound, const Executable &exe, const StoragePlan &storage, const MemoryPlan &plan,
                      unsigned threads);

} // namespace tess::runtime
