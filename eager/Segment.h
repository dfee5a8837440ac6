//===- Segment.h - parts of a function that run later -----------*- C++ -*-===//
//
// Operators recorded without running, and the memory that waits for their
// results. One program serves every part that reads the same: what it takes
// from outside are arguments.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/TracedProgram.h"

namespace tess::eager {

struct Segment {
  RecordingRef recording;
  /// The values of its arguments.
  std::vector<TensorRef> inputs;
  /// Of its outputs: every result that somebody still holds.
  std::vector<StorageRef> pending;

  /// Equal for parts that one program serves.
  llvm::Expected<std::string> key() const;
  /// Runs `program`, compiled from an equal part, and gives the results their values.
  llvm::Error run(TracedProgram &program) const;
};

} // namespace tess::eager
