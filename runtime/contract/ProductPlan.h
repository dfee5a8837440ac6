//===- ProductPlan.h - what is decided for a product ------------*- C++ -*-===//
//
// A block of panels whose lines of one chunk fit into the second level of a cache
// goes by a block of rows, a tile at a time, chunk after chunk. Parts are rows,
// columns or matrices; which thread takes one, and how large blocks are, decides
// no bit, since each result is one sum in the order of chunks (kContractLines).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/Kernels.h"
#include "runtime/contract/Panels.h"

#include "llvm/ADT/SmallVector.h"

namespace tess::runtime::contract {

/// Matrices (rows, depth) by (depth, columns), whose results are row-major and lie behind each other.
struct ProductShape {
  DType dtype;
  int64_t rows, columns, depth;
  /// Strides of an operand, in elements; one of the two is 1.
  int64_t lhsRow, lhsColumn, rhsRow, rhsColumn;
  /// Where matrix number i of the batch begins in each operand, in elements; one place of the right operand is that of
  /// all.
  llvm::SmallVector<int64_t, 1> lhsAt = {0}, rhsAt = {0};
  /// The right operand comes as panels (Panels.h): all of one matrix, behind each other.
  bool hasPanels = false;
};

/// Decisions before anything is computed.
struct ProductPlan {
  /// For a shape without empty axes and the kernels of its form.
  ProductPlan(const ProductShape &shape, const Kernels &kernels, unsigned threads);

  LineForm form;
  int64_t numPanels, numLines, numTiles;
  int64_t smallTile, numLargeTiles;       // tiles differ by one row at most; the larger ones come first
  int64_t blockPanels, blockTiles;        // of a block, at most
  bool packsLines;                        // of panels that one tile reads: a chunk, when it reads them
  bool needsPanels;                       // of the right operand: all, else the last one where it is partial
  bool packsAll, packsLast;               // those that run() packs
  bool copiesRows;                        // of the left operand
  bool isDeep;                            // sums of chunks are added in float64
  bool sumsApart;                         // from results, which are written when all chunks are added
  unsigned numParts = 1;                  // of everything
  unsigned rowParts = 1, columnParts = 1; // of a matrix; both are 1 where parts are of matrices
  unsigned panelSlots;                    // matrices of which packed panels are kept at a time
  size_t panelBytes, slotBytes, partBytes;
  size_t linesAt, sumsAt, totalsAt; // in the memory of a part, which begins with copied rows

  /// The row at which a tile begins.
  int64_t firstRow(int64_t tile) const { return tile * smallTile + (tile < numLargeTiles ? tile : numLargeTiles); }

private:
  void share(const ProductShape &shape, const Kernels &kernels, unsigned threads);
};

} // namespace tess::runtime::contract
