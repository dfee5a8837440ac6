//===- Effects.h - state beside tensors that a trace depends on -*- C++ -*-===//
//
// A recording sees tensors only. That a module was in training mode, or that a
// tensor had no gradient yet, is decided in C++: code that reads or changes such
// state tells the trace that is being recorded. It then runs the compiled program only
// where the state is as it was, and changes it as the function did.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Tensor.h"

#include <memory>

namespace tessera::detail {

/// A mode shared by its owner and the traces that saw it; outlives the owner.
using ModeRef = std::shared_ptr<bool>;

/// What a recorded call does to the gradient of one tensor.
struct GradEffect {
  Tensor target;
  int argument = -1; // the target is an argument of the call, and `target` is not set
  Tensor before;     // may be undefined
  int result = -1;   // number among the additional results of the recording
  bool same = false; // the variable of the gradient stayed; its value is an update like any other
};

/// Conditions and consequences of a recorded call.
class Replay {
public:
  /// Whether the function would do now what the recorded call did.
  bool holds(llvm::ArrayRef<Tensor> arguments) const;
  /// Must be called before the program runs, which reads gradients through the variables that were recorded.
  void prepare(llvm::ArrayRef<Tensor> arguments) const;
  /// Changes the gradients as the function did, after the program ran; `results`: its additional ones.
  void apply(llvm::ArrayRef<Tensor> arguments, llvm::ArrayRef<Tensor> results) const;

private:
  friend class Effects;
  std::vector<std::pair<ModeRef, bool>> modes;
  std::vector<GradEffect> grads;
};

/// Collects the conditions and consequences of a call on this thread while it lives.
class Effects {
public:
  explicit Effects(llvm::ArrayRef<Tensor> arguments);
  ~Effects();
  Effects(const Effects &) = delete;

  /// The effects of the call that this thread records, or null.
  static Effects *current();
  /// Notes that `mode` decides what is recorded.
  void seeMode(const ModeRef &mode);
  /// Notes that the gradient of `tensor` is about to change. Does nothing outside a recording.
  static void touchGrad(const Tensor &tensor);
  /// Ends the call; appends the gradients that it leaves behind to `results`.
  Replay finish(std::vector<Tensor> &results);
  /// Gives tensors the gradients that they had before the call.
  void undo() const;

private:
  llvm::ArrayRef<Tensor> arguments;
  Replay replay;
};

} // namespace tessera::detail
