//===- BodyRecording.h - the body of a loop, recorded -----------*- C++ -*-===//
//
// A frontend's function runs once, on tensors without values, and becomes the
// body of a control operator (ops/graphs/Control.h). What it takes from outside is an
// operand; a variable that it updates is carried from trip to trip, and has its
// last value after the loop.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tracing/Recorder.h"
#include "ops/graphs/Control.h"

namespace tess::eager {

/// How often a scan applies its step, and on what.
struct ScanCall {
  llvm::ArrayRef<TensorRef> carried, xs;
  control::ScanOrder order;
  /// The first values of further carried ones, which the step returns behind its own and does not read.
  llvm::ArrayRef<TensorRef> unread = {};
};

/// The step of one scan. Used by one thread; tapes of it record nothing until it ends.
class BodyRecording {
public:
  /// Starts to record on arguments for the carried values and the elements of the xs. The error when the xs do not
  /// agree.
  static llvm::Expected<std::unique_ptr<BodyRecording>> begin(const ScanCall &call);
  /// Abandons a recording that has not ended.
  ~BodyRecording();
  BodyRecording(const BodyRecording &) = delete;

  llvm::ArrayRef<TensorRef> arguments() const { return argumentList; }
  /// Ends the recording; `outputs`: the carried values, then elements of what is stacked.
  void end(llvm::ArrayRef<TensorRef> outputs);
  /// Whether the step, which has not ended, must run: no body does what it did, for it looked at a size that data
  /// decides.
  bool mustRun() const { return recorder->mustRun(); }
  /// Once it has ended: the error when no body does what the step did, or none whose gradient can be taken where
  /// `hasGradient`. Sizes that data decides may be those of values in one trip of the loop only.
  llvm::Error check(const ScanCall &call, bool hasGradient) const;
  /// Zeros of the dtypes and shapes of the outputs behind the carried values.
  llvm::Expected<Tensors> zeros(const ScanCall &call) const;
  /// Applies the scan of the step that was recorded, and updates variables; the carried values, then the stacked ones.
  llvm::Expected<Tensors> apply(const ScanCall &call) const;

private:
  BodyRecording() = default;

  Tensors argumentList;
  std::shared_ptr<Recorder> recorder; // null: it has ended
  RecordingRef recording;
};

} // namespace tess::eager
