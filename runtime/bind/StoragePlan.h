//===- StoragePlan.h - which memory each value lives in ---------*- C++ -*-===//
#pragma once

#include "runtime/bind/MemoryPlan.h"
#include "runtime/schema/Executable.h"
#include "llvm/Support/Error.h"

namespace tess::runtime {

/// Where a value lies.
struct Place {
  /// The list that `index` is for; None: the value has no memory.
  enum Kind : uint8_t { None, Input, Output, Arena, Constant } kind = None;
  uint32_t index = 0; // input, output, allocation, constant
};

/// An output that no step writes directly.
struct OutputCopy {
  ValueId value;
  uint32_t output;
  int32_t stage = -1; // allocation that it goes through, since its source is a buffer that another output takes over
};

/// The places of all values, before allocations have offsets.
struct StoragePlan {
  std::vector<Place> places; // by value; a view has its root's
  std::vector<Allocation> allocations;
  std::vector<OutputCopy> copies;
};

struct PlannedMemory; // Bind.h

/// What lies where in the arena, for people. `scratch`: by command, the allocation that it uses for itself; -1: none.
std::vector<PlannedMemory> describePlan(const Executable &exe, const StoragePlan &storage, const MemoryPlan &plan,
                                        llvm::ArrayRef<int32_t> scratch);

/// The value that a view looks at, through any number of views.
ValueId rootOf(const Executable &exe, ValueId value);

/// Chooses a place for every value. Lifetimes follow from the steps; an output is written where it belongs unless its
/// buffer is read later; a result may take the memory of an operand that dies (Step::inplace). `metas` and `layouts`
/// are by value. Copies run after the last step, as step number exe.steps.size().
llvm::Expected<StoragePlan> planStorage(const Executable &exe, llvm::ArrayRef<TensorMeta> metas,
                                        llvm::ArrayRef<Layout> layouts);

} // namespace tess::runtime
