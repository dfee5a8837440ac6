//===- Segment.h - parts of a function that run later -----------*- C++ -*-===//
//
// Operators recorded without running, and the memory that waits for their
// results. One program serves every part that reads the same: what it takes
// from outside are arguments.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tracing/TracedProgram.h"

namespace tess::eager {

/// A recorded part that has not run, with the tensors that wait for it.
struct Segment {
  RecordingRef recording;
  /// The values of its arguments.
  std::vector<TensorRef> inputs;
  /// The storages of its outputs: every result that is still referred to.
  std::vector<StorageRef> pending;

  /// A text that is equal for parts that one program can serve.
  llvm::Expected<std::string> key() const;
  /// Runs `program`, which was compiled from a part of equal key, and gives the pending storages their memory.
  llvm::Error run(TracedProgram &program) const;
};

} // namespace tess::eager
