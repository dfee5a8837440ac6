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
#include "runtime/contract/PaddedImages.h"
#include "runtime/contract/Results.h"
#include "runtime/contract/WeightRows.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace tess::runtime::contract {

/// How windows of images are an operand: the left one has them as rows (gatherRows) or as columns (gatherColumns), the
/// right one as columns (PaddedImages).
enum class WindowUse { Rows, Columns, Panels };

/// Sums that a product adds to results which are there; Nothing: it writes them.
enum class Added { Nothing, EachChunk, TheSum };

/// Matrices (rows, depth) by (depth, columns). Int8 and uint8 by int8 give int32, exactly up to kExactByteDepth and by
/// wrapping beyond. Floats up to float32 may have two dtypes, and then are multiplied as float32.
struct ProductShape {
  DType dtype; // of the left operand
  int64_t rows, columns, depth;
  /// Strides of an operand, in elements; one of the two is 1.
  int64_t lhsRow, lhsColumn, rhsRow, rhsColumn;
  /// Where matrix number i of the batch begins in each operand, in elements; fewer places of one operand repeat.
  llvm::SmallVector<int64_t, 1> lhsAt = {0}, rhsAt = {0};
  /// The right operand comes as panels (Panels.h): those of each matrix behind each other.
  bool hasPanels = false;
  /// An operand consists of these windows, and has no strides.
  std::optional<Windows> windows = std::nullopt;
  WindowUse windowUse = WindowUse::Rows;
  /// The left operand of windows that are panels.
  std::optional<WeightForm> weight = std::nullopt;
  /// Runs of the right operand's rows (RightMatrix); 0: one run.
  int64_t rhsRun = 0;
  llvm::SmallVector<int64_t, 1> rhsRunAt = {};
  /// Where results lie; none: they are row-major, and matrices lie behind each other. Windows are its rows.
  std::optional<ResultForm> results = std::nullopt;
  /// Dtype of a right operand of floats; none: that of the left one.
  std::optional<DType> rightDType = std::nullopt;
  /// Dtype of results; none: that of the operands, int32 of bytes. Float32 for narrow floats.
  std::optional<DType> resultDType = std::nullopt;
  /// Lines of a chunk, kContractLines at most; whether the last chunk is the first one, and what is added to what
  /// stands where results lie. Fewer lines and such sums are of float32 and float64 alone.
  int64_t chunkLines = kContractLines;
  bool lastFirst = false;
  Added added = Added::Nothing;
  /// Whether a right operand that kernels can read in place is packed; none: where that takes less.
  std::optional<bool> packs = std::nullopt;

  DType right() const { return rightDType.value_or(dtype); }
  DType result() const { return resultDType.value_or(isInt(dtype) ? DType::Int32 : dtype); }
  DType ofKernel() const { return right() == dtype ? LineForm(dtype).ofKernel : DType::Float32; }
  int64_t numMatrices() const { return int64_t(std::max(lhsAt.size(), rhsAt.size())); }
  bool hasWindowPanels() const { return windows && windowUse == WindowUse::Panels; }
  /// Elements before the results of a matrix.
  int64_t resultsAt(int64_t matrix) const { return results ? results->at[matrix] : matrix * rows * columns; }
};

/// Depth up to which no sum of products of 8 bits leaves int32: beyond it some sums of 255 * -128 do.
constexpr int64_t kExactByteDepth = (int64_t(1) << 31) / (255 * 128);

/// Decisions before anything is computed.
struct ProductPlan {
  /// For a shape without empty axes and the kernels of its form.
  ProductPlan(const ProductShape &shape, const Kernels &kernels, unsigned threads);

  LineForm form, leftForm; // of the right operand and of the left one, in words of one size
  int64_t numPanels, numLines, numTiles;
  int64_t chunkLines;                     // of a chunk, at most
  int64_t smallTile, numLargeTiles;       // tiles differ by one row at most; the larger ones come first
  int64_t blockPanels, blockTiles;        // of a block, at most
  int64_t sumStride;                      // from row to row of sums
  bool packsLines;                        // of panels that one tile reads: a chunk, when it reads them
  bool needsPanels;                       // of the right operand: all, else the last one where it is partial
  bool packsAll, packsLast;               // those that run() packs
  bool mayReadInPlace;                    // the right operand, whole panels of it
  bool copiesRows;                        // of the left operand: those of a tile, when it reads them
  bool copiesWeight = false;              // all of the left operand
  bool gathersPanels = false;             // of the right operand, from padded images
  bool fillsBlocks = false;               // of panels, gathered or packed a chunk at a time
  bool isDeep;                            // sums of chunks are added in float64
  bool sumsApart;                         // from results, which are written when all chunks are added
  bool addsChunks;                        // to results, the first one too
  ResultForm results;                     // of those
  std::optional<PaddedImages> images;     // whose windows are panels, or columns of the left operand
  unsigned numParts = 1;                  // of everything
  unsigned rowParts = 1, columnParts = 1; // of a matrix; both are 1 where parts are of matrices
  unsigned panelSlots;                    // matrices of which packed panels or padded images are kept at a time
  int64_t weightWords = 0;                // from row to row of a copied weight
  size_t panelBytes, slotBytes, partBytes;
  size_t leftBytes = 0;             // of a left operand that is copied as a whole: a weight, or padded images
  size_t linesAt, sumsAt, totalsAt; // in the memory of a part, which begins with copied rows

  /// The row at which a tile begins.
  int64_t firstRow(int64_t tile) const { return tile * smallTile + (tile < numLargeTiles ? tile : numLargeTiles); }

private:
  void planOperands(const ProductShape &shape, const Kernels &kernels);
  void planWindowPanels(const ProductShape &shape);
  void planWindowColumns(const ProductShape &shape);
  bool readsPanelsOnce(const ProductShape &shape) const;
  void planMemory(const ProductShape &shape, const Kernels &kernels);
  void share(const ProductShape &shape, const Kernels &kernels, unsigned threads);
  void shareReading(const ProductShape &shape, int64_t wanted, int64_t wide);
};

} // namespace tess::runtime::contract
