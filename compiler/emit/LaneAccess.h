//===- LaneAccess.h - loads and stores of lanes at an address ---*- C++ -*-===//
//
// Each inner class has one way to load and store: contiguous lanes a vector at a
// time, strided ones 16 elements, repeated ones one vector for a whole row. Tails
// that no masked instruction covers go element by element through a buffer on
// the stack.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/emit/KernelScopes.h"

namespace tess::compiler {

using runtime::InnerClass;

/// Moves the lanes that count where the vector axis is open. Steps count elements, between neighbouring lanes.
class LaneAccess {
public:
  /// `narrowMasks`: KernelEmitOptions. `hasWindows`: lanes that lie apart are mostly elements of windows.
  LaneAccess(LaneBuilder &b, KernelScopes &scopes, bool narrowMasks, bool hasWindows)
      : b(b), scopes(scopes), narrowMasks(narrowMasks), hasWindows(hasWindows) {}

  /// Loads contiguous or strided lanes; `step` is for strided ones.
  V load(mlir::Value base, Elem elem, InnerClass inner, V step);
  /// Loads strided lanes, all of which count.
  V loadApart(mlir::Value base, Elem elem, V step);
  /// Loads elements `lane & mask`.
  V loadRepeated(mlir::Value base, Elem elem, V mask);
  /// Stores contiguous or strided lanes.
  void store(V value, mlir::Value base, InnerClass inner, V step);

private:
  using Values = LaneBuilder::Values;

  V load(mlir::Value base, Elem elem, InnerClass inner, V step, V mask);
  V loadByElement(mlir::Value base, Elem elem, V step);
  V loadBackward(mlir::Value base, Elem elem);
  V loadPairs(mlir::Value base, Elem elem);
  void store(V value, mlir::Value base, InnerClass inner, V step, V mask);
  void storeByElement(V value, mlir::Value base, V step);

  LaneBuilder &b;
  KernelScopes &scopes;
  const bool narrowMasks, hasWindows;
};

} // namespace tess::compiler
