//===- KernelLoops.h - loops over one group of the domain -------*- C++ -*-===//
#pragma once

#include "compiler/emit/KernelScopes.h"

namespace tess::compiler {

/// The ways to walk the positions [lo, hi) of a group, by vectors or one by one. A body gets and returns loop-carried
/// values; backward loops go from the last position to the first.
class KernelLoops {
public:
  using Values = LaneBuilder::Values;
  using Body = llvm::function_ref<Values(llvm::ArrayRef<V>)>;

  KernelLoops(LaneBuilder &b, KernelScopes &scopes) : b(b), scopes(scopes) {}

  /// One position at a time.
  Values indexLoop(V lo, V hi, unsigned group, llvm::ArrayRef<V> init, Body body, bool backward = false);
  /// Whole vectors only.
  Values lanesLoop(V lo, V hi, unsigned group, llvm::ArrayRef<V> init, Body body, bool backward = false);
  /// Whole vectors: an unmasked main loop, and one masked tail, which has the last positions, or, backward, the first.
  Values vectorLoop(V lo, V hi, unsigned group, llvm::ArrayRef<V> init, Body body, bool backward = false);
  /// An unmasked main loop, then the rest one element at a time.
  void scalarTailLoop(V lo, V hi, unsigned group, llvm::function_ref<void()> body);
  /// One loop that includes the tail; its loads and stores test whether they are in the tail. For bodies that are much
  /// longer than a branch, which would otherwise be generated twice.
  void wholeLoop(V lo, V hi, unsigned group, llvm::function_ref<void()> body);

protected:
  LaneBuilder &b;
  KernelScopes &scopes;
};

} // namespace tess::compiler
