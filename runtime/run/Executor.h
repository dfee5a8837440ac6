//===- Executor.h - runs a bound program ------------------------*- C++ -*-===//
#pragma once

#include "runtime/run/RunOptions.h"

namespace tess::runtime {

/// Runs a bound program and waits. `inputs`: row-major memory of each. `outputs`: the same for each; null for one that
/// donates an input, whose buffer it then takes, and for one that grows. Outputs do not overlap inputs otherwise.
/// `scalars`: 8-byte patterns of the program's runtime attributes. A program with parallel steps runs on the worker
/// thread, others on the calling one. No allocation, hashing or shape work after the first run of `bound`, but for what
/// loops without a bound save. Returns the errors of kernels.
llvm::Error run(Bound &bound, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs,
                llvm::ArrayRef<uint64_t> scalars = {}, const RunOptions &options = {});

/// Counts of this process.
struct ExecutorStats {
  uint64_t binds = 0, runs = 0;
  uint64_t launches = 0; // generated kernels
  uint64_t libraryCalls = 0;
  uint64_t copies = 0;
  uint64_t workerRuns = 0; // runs that went to the worker thread
  /// Steps of all kinds.
  uint64_t steps() const { return launches + libraryCalls + copies; }
};
/// The counts since the process began.
ExecutorStats executorStats();
/// executorStats().steps(): launches, library calls and copies.
uint64_t launchCount();

} // namespace tess::runtime
