//===- GradEffects.h - what a traced function does to gradients -*- C++ -*-===//
//
// A recording sees values of tensors. Which tensors had a gradient decides what a
// function does, too, and it may replace or remove gradients: its program runs only
// where there are gradients as there were, and leaves those that the function left.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tracing/Recorder.h"

namespace tess::eager {

/// What one recorded call does to the gradients of variables. It keeps alive those that the recording captures.
class GradEffects {
public:
  GradEffects() = default;
  /// Of the call that `recorder` records, up to now. Appends the gradients that it leaves behind to `results`: further
  /// outputs of the recording.
  GradEffects(const Recorder &recorder, llvm::ArrayRef<TensorRef> arguments, llvm::SmallVectorImpl<TensorRef> &results);

  bool isEmpty() const { return effects.empty(); }
  /// Whether there are gradients where there were some.
  bool holds(llvm::ArrayRef<TensorRef> arguments) const;
  /// Must be called before the program runs, which reads gradients through the variables that were recorded.
  void prepare(llvm::ArrayRef<TensorRef> arguments) const;
  /// Sets gradients as the function did, after the program ran; `results`: its additional ones.
  void apply(llvm::ArrayRef<TensorRef> arguments, llvm::ArrayRef<TensorRef> results) const;
  /// What happens to gradients, in words: equal for equal effects.
  std::vector<std::string> lines() const;

private:
  struct Effect {
    int argument = -1;  // the variable is an argument; else it is one of the next two
    TensorRef captured; // the recording keeps it alive anyway
    WeakTensor outside;
    TensorRef before;   // null: there was no gradient
    int result = -1;    // number among the additional results; -1: none
    bool stays = false; // the variable of the gradient; its value is updated like any other

    /// Null when it is gone; `locked` keeps it alive meanwhile.
    TensorImpl *variable(llvm::ArrayRef<TensorRef> arguments, TensorRef &locked) const;
    std::string line() const;
  };
  std::vector<Effect> effects;
};

} // namespace tess::eager
