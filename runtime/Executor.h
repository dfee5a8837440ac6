//===- Executor.h - runs a bound program ------------------------*- C++ -*-===//
#pragma once

#include "runtime/bind/Bind.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tess::runtime {

/// Choices for one run.
struct RunOptions {
  /// Memory for the temporaries: at least memory().arena bytes, 64-byte aligned. Null: the bound program keeps its own.
  void *arena = nullptr;
  /// Null: the device's default stream.
  Stream *stream = nullptr;
  /// Called now and then by a loop that data ends, on the calling thread: an error ends the run. Null: nothing is
  /// asked.
  llvm::function_ref<llvm::Error()> poll = nullptr;
  /// Whether executorStats() counts the launches; those that fold constants for the compiler are not counted.
  bool isCounted = true;
  /// Gives the memory of an output for which the caller has none, because its size has no bound before the run, or too
  /// little, because fewer elements that data picks made it larger.
  std::function<llvm::Expected<void *>(size_t output, const TensorMeta &meta)> allocate;
  /// Takes over the memory of an output for which Bound::isOutputGrown(), with the number of trips that it has: the one
  /// reference to it, which must live as long as the run.
  std::function<void(size_t output, BufferRef buffer, int64_t trips)> takeGrown;
  /// How many trips the memory of an input has that is a grown value. Null: 1.
  std::function<int64_t(size_t input)> savedTrips;
};

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
