//===- GrownMemory.h - memory that grows while loops run --------*- C++ -*-===//
//
// What a loop without a bound stacks has buffers of its own. They are made when
// the loop begins, doubled when a trip finds no room, and given back when the run
// ends: the next one begins with as many trips as this one needed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/bind/Commands.h"
#include "runtime/run/RunOptions.h"

namespace tess::runtime {

/// Memory for `trips` of `width` bytes, with what `old` has of the first `kept`; `old` may be given back then.
llvm::Expected<BufferRef> grownMemory(Device &device, Stream &stream, int64_t trips, int64_t width, const void *old,
                                      int64_t kept);
/// Finds the grown values among the inputs of a run.
void takeGrownInputs(Commands &bound, llvm::ArrayRef<void *> inputs, const RunOptions &options);
/// Makes room for the trips that a loop makes, as far as they are known; an error where it would read others than there
/// are.
llvm::Error beginGrown(Commands &bound, const Command &loop, Stream &stream, int64_t trips);
/// Makes room for trip `at` of the loop, and checks that it may read its elements.
llvm::Error growFor(Commands &bound, const Command &loop, Stream &stream, int64_t at);
/// The error when nobody takes over the memory of an output that grew.
llvm::Error nobodyTakes(const Program &program, size_t output);
/// Hands outputs over and gives the other buffers back, after an error (`ended` false) all of them.
llvm::Error releaseGrown(Commands &bound, bool ended, const RunOptions &options);

} // namespace tess::runtime
