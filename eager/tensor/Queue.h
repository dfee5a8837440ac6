//===- Queue.h - work that runs beside the caller ---------------*- C++ -*-===//
//
// Operators that are not tiny run on the runtime's worker, in the order of
// their calls; tiny ones run at once when their operands are ready. A failure
// poisons the results and comes out at the next synchronisation, once, with
// the operator and the user's line of the call.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Location.h"
#include "eager/tensor/Tensor.h"
#include "runtime/device/Profiler.h"

#include <functional>
#include <memory>

namespace tess::eager {

/// Sets when errors that only data can cause are raised. 0: every operator ends before its call returns. 1: operators
/// that data can refuse do. 2: none; their results are poisoned. Waits for queued work.
llvm::Error setAsyncLevel(int level);
int asyncLevel();

/// Whether a queued operator that writes the storage has not ended.
bool isPending(const Storage &storage);
// Functions that wait fail when the user interrupts them (Ctrl-C); nothing has changed then.

/// Waits until the storage is written or its operator has failed. A value that was evicted is made again.
llvm::Error awaitWritten(Storage &storage);
/// Waits until every queued operator has run; needed before memory is written that one of them may read.
llvm::Error awaitAll();
/// As awaitWritten(), then returns the error of the operator that should have written it, which counts as reported.
llvm::Error awaitValue(Storage &storage);
/// Waits for all queued work and returns the failures that were not reported yet: the first one, with the messages of
/// the others.
llvm::Error sync();

/// What runs on the worker for one operator.
struct Job {
  std::function<llvm::Error()> body;
  /// Storages that the body reads; a poisoned one poisons the outputs, and the body does not run.
  llvm::SmallVector<StorageRef, 4> inputs;
  llvm::SmallVector<StorageRef, 2> outputs;
  /// "x f32[2, 3], y f32[3, 4]", for the message of a failure.
  std::function<std::string()> describe;
  Location location;
  /// Since when it waits, where a profile is taken; enqueue() fills it in.
  std::unique_ptr<runtime::profiler::Waiting> waiting = nullptr;
};
/// Queues `job`; waits while the queue is long or holds many bytes. The outputs are pending until it has run. On an
/// error it is not queued.
llvm::Error enqueue(std::unique_ptr<Job> job);

/// What waits or runs now, and the numbers above which a caller waits.
struct QueueStats {
  uint64_t commands, bytes; // storages that queued operators refer to, each counted once
  uint64_t mostCommands, mostBytes;
};
/// Of the queue of this process.
QueueStats queueStats();

/// Marks the outputs as failed: with the failure of a poisoned input, or with a new one.
void poisonAll(llvm::ArrayRef<StorageRef> outputs, const FailureRef &why);
/// The failure that results of poisoned inputs have: that of the first one, or one that stands for those of several
/// inputs, so that whoever hears of the result hears of all. Null when no input is poisoned.
FailureRef inheritedFailure(llvm::ArrayRef<StorageRef> inputs);
/// A failure that sync() reports unless the value is read before.
FailureRef makeFailure(llvm::Error error, llvm::StringRef what, Location location);
/// The failure as an error; it and its causes count as reported.
llvm::Error errorOf(Failure &failure);

} // namespace tess::eager
