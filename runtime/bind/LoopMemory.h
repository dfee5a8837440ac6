//===- LoopMemory.h - how a loop's values share memory ----------*- C++ -*-===//
//
// A carried value is one memory for all trips: the loop's result, its argument
// and, where no step of a trip reads the old value later, what the trip yields.
// An element of the xs, or of a stacked result, lies in the whole; each trip
// finds it further on.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/Executable.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tess::runtime {

/// From trip to trip of the loop with this step a value lies `bytes` further on.
struct TripMove {
  int32_t loop = -1; // -1: it stays
  int64_t bytes = 0;
};

/// Where the loops of an executable are, and which of their values lie in the memory of others.
class LoopMemory {
public:
  /// `bytesOf`: of a value. `mayOverwrite`: whether a step may write its result `made` into the memory of the argument.
  LoopMemory(const Executable &exe, llvm::function_ref<int64_t(ValueId)> bytesOf,
             llvm::function_ref<bool(const Step &step, ValueId made, ValueId argument)> mayOverwrite);

  /// The step of the innermost loop around a step, and around the definition of a value; -1: none.
  int32_t loopOf(int32_t step) const { return loops.empty() ? -1 : loops[step]; }
  int32_t homeOf(ValueId value) const { return homes.empty() ? -1 : homes[value]; }
  /// The last step of a loop's body; the loop itself where that has none.
  int32_t endOf(int32_t loop) const { return loop + int32_t(exe->loops[exe->steps[loop].loop].numSteps); }
  /// The last step of the trips in which `step` reads a value of home `home`: the value must live as long.
  int32_t lastRead(int32_t step, int32_t home) const;
  /// The value that owns the memory, through views and loops.
  ValueId ownerOf(ValueId value) const;
  /// Whether the value lies in the memory of another, though it is no view.
  bool isShared(ValueId value) const { return wholeOf(value) >= 0; }
  /// How the address of the value changes, outer loops last.
  llvm::SmallVector<TripMove, 2> movesOf(ValueId value) const;

private:
  /// The value in whose memory it lies, though it is no view; -1: none.
  ValueId wholeOf(ValueId value) const { return sharedWith.empty() ? -1 : sharedWith[value]; }
  void findLoops();
  int32_t lastReadIn(int32_t loop, ValueId argument) const;
  void shareCarried(int32_t loop, unsigned number,
                    llvm::function_ref<bool(const Step &, ValueId, ValueId)> mayOverwrite);

  const Executable *exe;
  // All empty where the executable has no loop.
  std::vector<int32_t> loops, homes, written; // by step; by value
  std::vector<ValueId> sharedWith;            // by value
  std::vector<TripMove> moves;                // by value: within the memory that it shares
};

} // namespace tess::runtime
