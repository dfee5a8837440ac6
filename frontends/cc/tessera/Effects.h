//===- Effects.h - state beside tensors that a trace depends on -*- C++ -*-===//
//
// A recording sees tensors. That a module was in training mode, or that a
// tensor had no gradient yet, is decided in C++: those who read or change such
// state tell the trace that is recorded. It then runs the compiled program only
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
  /// The recorded call is what the function would do now.
  bool holds(llvm::ArrayRef<Tensor> arguments) const;
  /// Before the program runs: it reads gradients through the variables that were recorded.
  void prepare(llvm::ArrayRef<Tensor> arguments) const;
  /// After it ran; `results` are the additional ones.
  void apply(llvm::ArrayRef<Tensor> arguments, llvm::ArrayRef<Tensor> results) const;

private:
  friend class Effects;
  std::vector<std::pair<ModeRef, bool>> modes;
  std::vector<GradEffect> grads;
};

/// Collects them on this thread while it lives.
class Effects {
public:
  explicit Effects(llvm::ArrayRef<Tensor> arguments);
  ~Effects();
  Effects(const Effects &) = delete;

  /// The one of the call that is being recorded, or null.
  static Effects *current();
  /// `mode` decides what is recorded.
  void seeMode(const ModeRef &mode);
  /// The gradient of `tensor` is about to change. Does nothing outside a recording.
  static void touchGrad(const Tensor &tensor);
  /// Gradients that the call leaves behind are appended to `results`.
  Replay finish(std::vector<Tensor> &results);
  /// Gradients are as before the call.
  void undo() const;

private:
  llvm::ArrayRef<Tensor> arguments;
  Replay replay;
};

} // namespace tessera::detail
