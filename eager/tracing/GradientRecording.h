//===- GradientRecording.h - a function and its gradient --------*- C++ -*-===//
//
// One recording of a function and of its gradient, cut in two: the forward half
// gives the function's results and what the gradient reads, the backward half
// takes that and the gradients of the results.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tracing/Recorder.h"

namespace tess::eager {

/// The two halves, and what goes from one to the other.
struct GradientRecording {
  /// A value of the forward half that the backward half reads.
  struct Saved {
    enum Kind : uint8_t { Argument, Captured, Output } kind; // the list of the forward half that `index` is for
    unsigned index;
    /// The number of the value, the same in every recording of the function.
    uint32_t value;
  };
  /// Its outputs are those of the function, then the other saved values.
  RecordingRef forward;
  /// Its arguments are the saved values, then the gradients of the results.
  RecordingRef backward;
  std::vector<Saved> saved;
};

/// Cuts `whole` at `boundary`. Its arguments are the function's `numArguments`, then the gradients of the results; its
/// outputs are the function's `numOutputs`, then the gradients of the arguments. InvalidArgument when the gradient
/// updates a variable.
llvm::Expected<GradientRecording> splitRecording(Recording whole, const Recorder::Boundary &boundary,
                                                 size_t numArguments, size_t numOutputs);

} // namespace tess::eager
