//===- MemorySchedule.h - operators within a limit of memory ----*- C++ -*-===//
//
// Runs operators on paper, one by one, and drops values where they would take
// more than a limit; one that is dropped is computed again before its next
// reader, from what is there or is computed again itself. Dropped is the value
// of which a byte costs least for the time that it is not read: M. Kirisame et
// al., "Dynamic Tensor Rematerialization", ICLR 2021, with the time to the next
// reader, which a compiler knows, in place of that since the last one. How much
// cost, neighbours and time should count differs from program to program, so
// that several such scores are tried and the cheapest schedule is taken.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace tess::compiler {

/// Numbers of values or operators.
using Numbers = llvm::SmallVector<unsigned, 4>;

/// An operator: values that it reads and makes, each once, and the time that it takes.
struct ScheduledOp {
  Numbers operands, results;
  double cost = 0;
  /// Whether it gives the same again whenever it runs.
  bool mayRepeat = true;
  /// Whether its results may take the memory of operands that nothing reads behind it.
  bool reusesOperands = false;
};

/// Operators in their order, and the bytes of each value. A value that no operator makes is none of these.
struct ScheduleProblem {
  std::vector<ScheduledOp> ops;
  std::vector<int64_t> bytes;
};

/// An operator that runs, for the first time or again, and those of its results that are made by it.
struct ScheduledRun {
  unsigned op;
  Numbers results;
};

struct Schedule {
  /// By operator of the problem: what runs again before it, in order.
  std::vector<std::vector<ScheduledRun>> again;
  /// The time of what runs again, and the most bytes at once.
  double cost = 0;
  int64_t peak = 0;
};

/// A schedule that takes no more than `limit` bytes, of those that were found the cheapest; where none is, that with
/// the smallest peak.
Schedule scheduleWithin(const ScheduleProblem &problem, int64_t limit);

} // namespace tess::compiler
