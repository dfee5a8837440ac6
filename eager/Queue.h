//===- Queue.h - work that runs beside the caller ---------------*- C++ -*-===//
//
// Operators that are not tiny run on the runtime's worker, in the order of
// their calls; tiny ones run at once when their operands are ready. A failure
// poisons the results and comes out at the next synchronisation, once, with
// the operator and the user's line of the call.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Location.h"
#include "eager/Tensor.h"

#include <functional>

namespace tess::eager {

/// 0: every operator ends before its call returns, which raises its error. 1: so do those that only data can refuse.
/// 2: as above. Waits for queued work.
llvm::Error setAsyncLevel(int level);
int asyncLevel();

/// A queued operator writes the storage and has not ended.
bool isPending(const Storage &storage);
// Errors of the functions that wait: the user has said stop (Ctrl-C), and nothing changed.

/// Waits until the storage is written, well or not.
llvm::Error awaitWritten(Storage &storage);
/// Waits until every queued operator has run: before memory is written that one may read.
llvm::Error awaitAll();
/// Waits as awaitWritten; then the error of the operator that was to write it. It counts as seen.
llvm::Error awaitValue(Storage &storage);
/// Waits for all queued work and reports the failures that nobody has seen: the first, with the others' messages.
llvm::Error sync();

/// What runs on the worker for one operator.
struct Job {
  std::function<llvm::Error()> body;
  /// Read; a poisoned one poisons the outputs.
  llvm::SmallVector<StorageRef, 4> inputs;
  llvm::SmallVector<StorageRef, 2> outputs;
  /// "matmul: x f32[2, 3], y f32[3, 4]": for the message.
  std::function<std::string()> describe;
  Location location;
};
/// Queues `job`; waits when the queue is long or holds many bytes. Its outputs are pending until it ran. After an error
/// it is not queued.
llvm::Error enqueue(std::unique_ptr<Job> job);

/// What waits or runs now, and when a caller waits for it: above these numbers.
struct QueueStats {
  uint64_t commands, bytes; // storages that queued operators refer to, each counted once
  uint64_t mostCommands, mostBytes;
};
QueueStats queueStats();

/// Marks the outputs as failed: with the failure of a poisoned input, or with a new one.
void poisonAll(llvm::ArrayRef<StorageRef> outputs, const FailureRef &why);
/// A failure that sync() will report if nobody reads the value before.
FailureRef makeFailure(llvm::Error error, llvm::StringRef what, Location location);
/// The failure as an error; it counts as seen.
llvm::Error errorOf(Failure &failure);

} // namespace tess::eager
