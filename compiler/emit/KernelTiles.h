//===- KernelTiles.h - operands that lie across the lanes ------*- C++ -*-===//
//
// Neighbours along the lanes of a transposed operand lie a row of it apart, and
// its neighbours along the domain's rows side by side. Read lane by lane, each
// of its cache lines comes 16 times, and is gone between two of them where rows
// are a multiple of 4 KiB. So 16 x 16 elements are read together: 16 vectors
// along the rows, which are transposed in registers and wait on the stack, four
// times side by side, because caches like four lines better than one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/emit/KernelBuilder.h"
#include "compiler/emit/KernelLoops.h"

namespace tess::compiler {

/// The tiles of an elementwise kernel: of 16 rows that follow each other in the last group before that of the lanes.
class KernelTiles : KernelLoops {
public:
  /// Whether the kernel has operands that may lie so, and is short enough to be generated once more.
  static bool suit(const KernelSpec &spec);

  /// Built before the rows are looped over.
  explicit KernelTiles(KernelBuilder &k);

  /// What the loop over rows carries: the next row at which a tile may begin, and the first column of a row that no
  /// tile has.
  struct Progress {
    V next, column;
  };
  Progress start() const;
  /// Computes the tiles that begin with `row`, which is open at `position` of its group, if there are 16 such rows and
  /// no tile before has it. One comparison where there are no tiles: a row may have two elements.
  Progress compute(V row, V position, Progress before);

private:
  void computeColumns();

  KernelBuilder &k;
  const KernelSpec &spec;
  const KernelArguments &args;
  const unsigned rows; // the group
  llvm::SmallVector<unsigned, 4> across;
  V columnsEnd; // of whole tiles
  V firstRow;   // behind all rows, unless all operands of `across` lie so
};

} // namespace tess::compiler
