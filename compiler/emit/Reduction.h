//===- Reduction.h - partial results and their tree -------------*- C++ -*-===//
//
// The order of evaluation that promise "one result" fixes, once: element e of
// the last reduced group goes to partial result e mod 16, a halving tree
// (8, 4, 2, 1) ends it. Partial results are the lanes of a vector, or 16 vectors
// in memory with a column in each lane; both give the same bits. A float sum
// goes in pieces of kSumPiece elements, each summed so; their results are added
// in float64, in row-major order.
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
  /// Emits the Reduce node `index`.
  Reduction(KernelBuilder &k, int index);

  unsigned numParts() const { return partsOf(node.reduceKind); }

  /// The result of no elements, and that of two sets of elements, the first of which stand before the second's.
  LaneBuilder::Values none() { return nothing(false); }
  LaneBuilder::Values merge(llvm::ArrayRef<V> a, llvm::ArrayRef<V> b);

  // Totals: results of pieces and of chunks. A sum of floats has them in float64.
  /// Whether it is a sum or a mean of floats, which goes in pieces.
  bool sumsFloats() const;
  /// The total of nothing.
  LaneBuilder::Values noTotal(bool vector = false);
  /// Adds a result, or a total, of later elements to the total `a`.
  LaneBuilder::Values addTotal(llvm::ArrayRef<V> a, llvm::ArrayRef<V> b);
  /// The result that a total stands for.
  LaneBuilder::Values resultOf(llvm::ArrayRef<V> total);
  Elem totalElem(unsigned part) const;

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
  /// Sets memory aside for `vectors` vectors of columns, and for their totals where `hasTotals`, and begins a
  /// reduction.
  void startColumns(unsigned vectors, bool hasTotals);
  /// Takes in the elements of the current vector of columns.
  void stepColumns();
  /// Returns a vector of results: one for each column of the current vector.
  LaneBuilder::Values foldColumns();
  /// Adds a piece of several to the totals of the vector of columns from `column` of the block on, and begins the next
  /// one; the last one leaves what all come to in the partial results.
  void addColumns(V column, V isFirst, V isLast);

  Elem partElem(unsigned part) const;
  /// The node's value from the folded parts.
  V finish(llvm::ArrayRef<V> folded);

private:
  V argument();
  V neutral(bool vector);
  LaneBuilder::Values nothing(bool vector);
  V elementNumber();
  /// One step: `place` is the elements' number (ArgMax, ArgMin).
  LaneBuilder::Values accumulate(llvm::ArrayRef<V> parts, V value, V place);
  V better(V a, V b);
  LaneBuilder::Values startOfSlot(V slot);
  mlir::Value placeOfSlot(V column, V slot, unsigned part);
  LaneBuilder::Values loadSlot(V column, V slot);
  void storeSlot(llvm::ArrayRef<V> parts, V column, V slot);

  KernelBuilder &k;
  LaneBuilder &b;
  const KernelNode &node;
  DType from;      // of the argument
  DType valueType; // of the partial results
  bool hasPlace;
  mlir::Value memory[2], totals[2]; // of columns
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
