//===- GradEffects.h - what a traced function does to gradients -*- C++ -*-===//
//
// A recording sees values of tensors. Which tensors had a gradient decides what a
// function does, too, and it may replace or remove gradients: its program runs only
// where there are gradients as there were, and leaves those that the function left.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Recording.h"

namespace tess::eager {

/// What one recorded call does to the gradients of variables, which it does not keep alive.
class GradEffects {
public:
  GradEffects() = default;
  /// Of the call that `recorder` records, up to now. Appends the gradients that it leaves behind to `results`: further
  /// outputs of the recording.
  GradEffects(const Recorder &recorder, llvm::ArrayRef<TensorRef> arguments, std::vector<TensorRef> &results);

  bool isEmpty() const { return effects.empty(); }
  /// Whether there are gradients where there were some.
  bool holds(llvm::ArrayRef<TensorRef> arguments) const;
  /// Must be called before the program runs, which reads gradients through the variables that were recorded.
  llvm::Error prepare(llvm::ArrayRef<TensorRef> arguments) const;
  /// Sets gradients as the function did, after the program ran; `results`: its additional ones.
  void apply(llvm::ArrayRef<TensorRef> arguments, llvm::ArrayRef<TensorRef> results) const;
  /// What happens to gradients, in words: equal for equal effects.
  std::vector<std::string> lines() const;

private:
  struct Effect {
    WeakTensor outside;
    int argument = -1;  // `outside` is not set where the variable is an argument
    TensorRef before;   // null: there was no gradient
    int result = -1;    // number among the additional results; -1: none
    bool stays = false; // the variable of the gradient; its value is updated like any other

    TensorRef variable(llvm::ArrayRef<TensorRef> arguments) const {
      return argument >= 0 ? arguments[argument] : outside.lock();
    }
    std::string line() const;
  };
  std::vector<Effect> effects;
};

} // namespace tess::eager
