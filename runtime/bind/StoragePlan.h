//===- StoragePlan.h - which memory each value lives in ---------*- C++ -*-===//
#pragma once

#include "runtime/bind/LoopMemory.h"
#include "runtime/bind/MemoryPlan.h"
#include "runtime/bind/Roots.h"
#include "runtime/schema/Executable.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace tess::runtime {

/// Where a value lies.
struct Place {
  /// The list that `index` is for; None: the value has no memory.
  enum Kind : uint8_t { None, Input, Output, Arena, Constant, Grown } kind = None;
  uint32_t index = 0; // input, output, allocation, constant, grown value
};

/// A copy of a value for an output that no step writes directly.
struct OutputCopy {
  ValueId value;
  uint32_t output;
  Place from, to; // `from` None: the value's own
};

/// The places of all values, before allocations have offsets.
struct StoragePlan {
  std::vector<Place> places; // by value; a view has its root's, a loop's value that of the memory in which it lies
  std::vector<Allocation> allocations;
  std::vector<OutputCopy> copies; // in their order
  std::vector<ValueId> grown;     // values that the arena does not hold, as no bound of their sizes is known
  std::optional<LoopMemory> loops;
};

/// A command and the allocation that it uses for itself.
struct ScratchUse {
  size_t command, allocation;
};

struct PlannedMemory; // Bind.h

/// What lies where in the arena, for people. `scratch`: the allocations that commands use for themselves.
std::vector<PlannedMemory> describePlan(const Executable &exe, const StoragePlan &storage, const MemoryPlan &plan,
                                        llvm::ArrayRef<ScratchUse> scratch);

/// The lookup by which a kernel writes at indices into what an operand holds; null: it has none. It has one at most.
const LookupDecl *scatterOf(const Step &step);

/// Chooses a place for every value. Lifetimes follow from the steps; an output is written where it belongs unless its
/// buffer is read later; a result may take the memory of an operand that dies (Step::inplace). `metas` and `layouts`
/// are by value. Copies run after the last step, as step number exe.steps.size().
llvm::Expected<StoragePlan> planStorage(const Executable &exe, llvm::ArrayRef<TensorMeta> metas,
                                        llvm::ArrayRef<Layout> layouts);

} // namespace tess::runtime
