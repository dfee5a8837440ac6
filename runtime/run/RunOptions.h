//===- RunOptions.h - what a run is told ------------------------*- C++ -*-===//
#pragma once

#include "runtime/bind/Bind.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>

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

/// run() of Executor.h, as stages and loops get it, whose programs may have stages of their own.
using RunProgram = llvm::Error (*)(Bound &bound, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs,
                                   llvm::ArrayRef<uint64_t> scalars, const RunOptions &options);

} // namespace tess::runtime
