//===- GradientRecording.h - a function and its gradient --------*- C++ -*-===//
//
// One recording of a function and of its gradient, cut in two: the forward half
// gives the function's results and what the gradient reads, the backward half
// takes that and the gradients of the results.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Recording.h"

namespace tess::eager {

struct GradientRecording {
  /// A value of the forward half that the backward half reads.
  struct Saved {
    enum Kind : uint8_t { Argument, Captured, Output } kind;
    /// Among the forward half's arguments, captured variables or outputs.
    unsigned index;
    /// Its number in every recording of the same function.
    uint32_t value;
  };
  /// Outputs: the function's, then those that `saved` names beside them.
  RecordingRef forward;
  /// Arguments: the saved values, then the gradients of the results.
  RecordingRef backward;
  std::vector<Saved> saved;
};

/// Cuts `whole` before operator `numForwardOps`; it has `numArguments` arguments, the gradients of results after them,
/// and `numOutputs` results, the gradients of the function after them. InvalidArgument when the gradient updates a
/// variable.
llvm::Expected<GradientRecording> splitRecording(Recording whole, const Recorder::Boundary &boundary,
                                                 size_t numArguments, size_t numOutputs);

} // namespace tess::eager
