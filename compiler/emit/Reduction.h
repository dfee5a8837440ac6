//===- Reduction.h - partial results and their tree -------------*- C++ -*-===//
//
// The order of evaluation that promise "one result" fixes, once: element e of
// the last reduced group goes to partial result e mod 16, a halving tree
// (8, 4, 2, 1) ends it. Partial results are the lanes of a vector, or 16 vectors
// in memory with a column in each lane; both give the same bits.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/emit/KernelBuilder.h"

namespace tess::compiler {

/// kLanes neighbouring threads of a GPU that work on a row together.
class ThreadTeam {
public:
  virtual ~ThreadTeam() = default;
  /// The number of this thread in the team, i64.
  virtual V lane() = 0;
  /// The value that the thread `distance` behind this one has; meaningless in the last ones.
  virtual V fromBehind(V value, unsigned distance) = 0;
  /// The value of the team's first thread.
  virtual V fromFirst(V value) = 0;
};

/// Emits one Reduce node: 16 partial results by element number mod 16, and a tree that ends them.
class Reduction {
public:
  /// The Reduce node `index` of `spec`.
  Reduction(KernelBuilder &k, LaneBuilder &b, const KernelSpec &spec, int index);

  unsigned numParts() const { return partsOf(node.reduceKind); }

  /// The result of no chunk, and that of two sets of elements, the first of which stand before the second's.
  LaneBuilder::Values none();
  LaneBuilder::Values merge(llvm::ArrayRef<V> a, llvm::ArrayRef<V> b);

  // Lanes along the last reduced group.
  /// The partial results before the first element.
  LaneBuilder::Values start();
  /// Takes in the current elements; lanes outside `mask` (may be null) stay as they are.
  LaneBuilder::Values step(llvm::ArrayRef<V> parts, V mask);
  /// Folds the 16 lanes in a halving tree to scalars.
  LaneBuilder::Values fold(llvm::ArrayRef<V> parts);

  // Each lane a thread of a team, which has scalars.
  /// The partial result of a thread before its first element.
  LaneBuilder::Values startOf(V lane);
  /// Folds those of the team in the same tree; every thread gets the result.
  LaneBuilder::Values fold(llvm::ArrayRef<V> parts, ThreadTeam &team);

  // Lanes along the last parallel group; partial results in memory, for a block of columns.
  /// Stack bytes for a vector of columns.
  unsigned bytesPerVector() const;
  /// The same three for columns: startColumns() sets aside memory for `vectors` vectors of them, stepColumns() takes in
  /// the elements of the current vector of columns, and foldColumns() gives a vector: one result for each column.
  void startColumns(unsigned vectors);
  void stepColumns();
  LaneBuilder::Values foldColumns();

  Elem partElem(unsigned part) const;
  /// The node's value from the folded parts.
  V finish(llvm::ArrayRef<V> folded);

private:
  V argument();
  V neutral(bool vector);
  V elementNumber();
  /// One step: `place` is the elements' number (ArgMax, ArgMin).
  LaneBuilder::Values accumulate(llvm::ArrayRef<V> parts, V value, V place);
  V better(V a, V b);

  KernelBuilder &k;
  LaneBuilder &b;
  const KernelNode &node;
  DType from;      // of the argument
  DType valueType; // of the partial results
  bool hasPlace;
  mlir::Value memory[2];
};

/// The results of `call(reduction, its slice of each list)` in one list; the lists have the parts of all reductions.
template <typename Call, typename... Lists>
LaneBuilder::Values eachOf(llvm::MutableArrayRef<Reduction> reductions, Call &&call, const Lists &...lists) {
  LaneBuilder::Values all;
  for (Reduction &reduction : reductions)
    llvm::append_range(all, call(reduction, llvm::ArrayRef<V>(lists).slice(all.size(), reduction.numParts())...));
  return all;
}

} // namespace tess::compiler
