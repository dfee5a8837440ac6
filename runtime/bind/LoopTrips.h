//===- LoopTrips.h - how many trips a loop makes ----------------*- C++ -*-===//
#pragma once

#include "runtime/schema/Executable.h"

namespace tess::runtime {

/// The trips that a loop makes at most, on which all xs agree: kManyTrips without a bound. `length`: as LoopDecl has
/// it.
llvm::Expected<int64_t> tripsOf(int64_t length, bool isGuarded, llvm::ArrayRef<TensorMeta> xs);

} // namespace tess::runtime
