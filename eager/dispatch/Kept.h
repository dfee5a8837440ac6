//===- Kept.h - calls while values may be evicted ---------------*- C++ -*-===//
#pragma once

#include "eager/dispatch/Dispatch.h"

namespace tess::eager {

/// Runs the program of a graph as dispatchProgram() does; its operands stay in memory meanwhile, and the call is kept
/// so that the results can be made again. Every other call has that from dispatch().
llvm::Error dispatchKeptProgram(const DispatchCall &call, Tensors &results);

/// Tells dispatch() and eviction how calls run, and run again; part of eager's start.
void startEviction();

} // namespace tess::eager
