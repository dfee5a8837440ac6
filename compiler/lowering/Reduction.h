//===- Reduction.h - partial results and their tree -------------*- C++ -*-===//
//
// The order of evaluation that promise "one result" fixes, once: element e of
// the last reduced group goes to partial result e mod 16, a halving tree
// (8, 4, 2, 1) ends it. Partial results are the lanes of a vector, or 16 vectors
// in memory with a column in each lane; both give the same bits.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/KernelBuilder.h"

namespace tess::compiler {

class Reduction {
public:
  /// The Reduce node `index`.
  Reduction(KernelBuilder &k, int index);

  /// 1; with a place (ArgMax, ArgMin) 2: values and element numbers.
  unsigned numParts() const { return hasPlace ? 2 : 1; }

  // Lanes along the last reduced group.
  LaneBuilder::Values start();
  /// Takes in the elements here; lanes outside `mask` (may be null) stay.
  LaneBuilder::Values step(llvm::ArrayRef<V> parts, V mask);
  /// The tree: scalars.
  LaneBuilder::Values fold(llvm::ArrayRef<V> parts);

  // Lanes along the last parallel group; partial results in memory, for a block of columns.
  /// Stack bytes for a vector of columns.
  unsigned bytesPerVector() const;
  void startColumns(unsigned vectors);
  void stepColumns();
  LaneBuilder::Values foldColumns();

  /// The node's value from the folded parts.
  V finish(LaneBuilder::Values folded);

private:
  V argument();
  V neutral(bool vector);
  V elementNumber();
  Elem partElem(unsigned part) const;
  /// One step: `place` is the elements' number (ArgMax, ArgMin).
  LaneBuilder::Values accumulate(llvm::ArrayRef<V> parts, V value, V place);
  LaneBuilder::Values merge(llvm::ArrayRef<V> a, llvm::ArrayRef<V> b);
  V better(V a, V b);

  KernelBuilder &k;
  LaneBuilder &b;
  const KernelNode &node;
  DType from;      // of the argument
  DType valueType; // of the partial results
  bool hasPlace;
  mlir::Value memory[2];
};

} // namespace tess::compiler
