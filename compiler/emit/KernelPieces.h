//===- KernelPieces.h - the pieces of float sums ----------------*- C++ -*-===//
//
// A float sum takes in 64 elements for each partial result at most (KernelSpec.h):
// the loops here cut the reduced domain into such pieces. A reduction whose
// length does not change its result is one piece.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/emit/KernelWindows.h"
#include "compiler/emit/Reduction.h"

#include <vector>

namespace tess::compiler {

using Reductions = std::vector<Reduction>; // no list that assigns: a reduction has references

/// Loops over the pieces of one domain, in row-major order.
class KernelPieces {
public:
  using Values = LaneBuilder::Values;
  using Range = IndexRange;
  /// Positions in each reduced group.
  using Box = llvm::SmallVector<Range, 4>;
  using Body = llvm::function_ref<Values(const Box &, llvm::ArrayRef<V>)>;

  /// Must be made before the loops of a kernel.
  KernelPieces(const KernelSpec &spec, LaneBuilder &b, KernelScopes &scopes, KernelSizes &sizes);

  /// Whether some of the reductions is a float sum.
  static bool suit(llvm::ArrayRef<Reduction> reductions);

  /// All positions, and those in the last reduced group.
  Box whole();
  Range wholeOfLast();
  /// Calls `body` with each piece of all positions where the reductions go in pieces, else once with all.
  Values each(llvm::ArrayRef<Reduction> reductions, llvm::ArrayRef<V> init, Body body);

  /// Whether no other piece follows, i1.
  V isLast(const Box &piece);

  /// Results of pieces: the totals of all but the last, meaningless where that is the only one, and its own results.
  struct Folded {
    V isSeveral; // i1; null where there is always one
    Values before, last;
  };
  using Fold = llvm::function_ref<Values(const Box &)>;
  /// Folds all positions.
  Folded foldAll(Reductions &reductions, Fold fold);
  /// Folds the positions of a range of the only group.
  Folded foldRange(Range range, Reductions &reductions, Fold fold);
  /// Results of the pieces together.
  Values resultsOf(const Folded &folded, Reductions &reductions);
  /// Totals of the pieces together.
  Values totalsOf(const Folded &folded, Reductions &reductions);

  /// Totals of no piece, and those of later results or totals added to earlier ones.
  static Values noTotals(Reductions &reductions);
  static Values addTotals(Reductions &reductions, llvm::ArrayRef<V> before, llvm::ArrayRef<V> next);

private:
  V positionsOfPiece(unsigned reduced);
  V endOf(V start, V step, V end);
  Values cut(unsigned first, Box box, llvm::ArrayRef<V> init, Body body);
  Folded foldAlongOne(Range range, V firstEnd, Reductions &reductions, Fold fold);

  const KernelSpec &spec;
  LaneBuilder &b;
  KernelScopes &scopes;
  KernelSizes &sizes;
  V firstEnd; // of the first piece of the only group
};

} // namespace tess::compiler
