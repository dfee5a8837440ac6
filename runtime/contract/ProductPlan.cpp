//===- ProductPlan.cpp - what is decided for a product --------------------===//
#include "runtime/contract/ProductPlan.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tess::runtime::contract {

namespace {

/// Bytes of a block's panels in one chunk: half of a core's second-level cache, on most machines; and of its results,
/// which come back from the third level for each chunk.
constexpr int64_t kPanelBytes = 512 << 10, kResultBytes = 2 << 20;
/// Multiplications of a part that takes about 20 us, below which sharing costs more than it brings; parts for each
/// thread where there are more, so that one which comes late leaves some to others.
constexpr int64_t kPartProducts = 1 << 20;
constexpr unsigned kPartsPerThread = 3;
/// Chunks whose sums are added in float32: more would be off by more than the sum of a chunk is.
constexpr int64_t kFlatChunks = 64;
/// Rows so far apart share sets of a first-level cache: those of a tile, and lines that one tile reads again and again.
constexpr int64_t kAliasBytes = 2048;
/// Rows from which on a right operand is packed whose rows are a page apart, of which a block has a part.
constexpr int64_t kReusedRows = 256, kPageBytes = 4096;

} // namespace

ProductPlan::ProductPlan(const ProductShape &shape, const Kernels &kernels, unsigned threads) : form(shape.dtype) {
  numPanels = llvm::divideCeil(shape.columns, int64_t(kLanes));
  numLines = form.lines(shape.depth);
  numTiles = llvm::divideCeil(shape.rows, int64_t(kernels.rows()));
  smallTile = shape.rows / numTiles;
  numLargeTiles = shape.rows % numTiles;
  panelBytes = size_t(numLines) * form.lineBytes();
  const int64_t width = byteWidth(shape.dtype), mostLines = std::min(numLines, kContractLines);
  blockPanels = std::max<int64_t>(kPanelBytes / (mostLines * int64_t(form.lineBytes())), kernels.panels());
  blockPanels = std::min(blockPanels, numPanels);
  const int64_t tileBytes = kernels.rows() * blockPanels * int64_t(form.lineBytes());
  blockTiles = std::clamp<int64_t>(kResultBytes / tileBytes, 1, numTiles);
  auto aliases = [&](int64_t stride, int64_t uses) { return uses > 4 && stride * width % kAliasBytes == 0; };
  const bool isWord = form.ofKernel == shape.dtype && form.perColumn == 1;
  const bool skipsPages = numPanels > blockPanels && shape.rhsRow * width % kPageBytes == 0;
  needsPanels = shape.hasPanels || !isWord || shape.rhsColumn != 1 || (shape.rows > kReusedRows && skipsPages);
  packsLines = !shape.hasPanels && numTiles == 1;
  packsAll = needsPanels && !shape.hasPanels && !packsLines;
  packsLast = !needsPanels && !packsLines && shape.columns % kLanes;
  const bool readsRows = isWord || (form.ofKernel == shape.dtype && shape.lhsColumn == 1 && shape.depth % 2 == 0);
  const bool sharesSets = shape.lhsColumn == 1 ? aliases(shape.lhsRow, std::min<int64_t>(kernels.rows(), shape.rows))
                                               : aliases(shape.lhsColumn, numLines);
  copiesRows = !readsRows || (sharesSets && numPanels > int64_t(2) * kernels.panels());
  isDeep = form.ofKernel != DType::Float64 && numLines > kFlatChunks * kContractLines;
  sumsApart = isDeep || byteWidth(shape.dtype) < 4;
  share(shape, kernels, threads);
  panelSlots = !packsAll && !packsLast ? 0 : shape.rhsAt.size() == 1 || rowParts * columnParts > 1 ? 1 : numParts;
  slotBytes = packsAll ? size_t(numPanels) * panelBytes : panelBytes;
  const size_t sumBytes = size_t(blockTiles * tileBytes);
  const int64_t linePanels = std::min<int64_t>(numPanels, kernels.panels());
  linesAt = copiesRows ? packedRowsBytes(form, kernels.rows()) : 0;
  sumsAt = linesAt + (packsLines ? size_t(linePanels * mostLines) * form.lineBytes() : 0);
  totalsAt = sumsAt + (sumsApart ? sumBytes : 0);
  partBytes = llvm::alignTo(totalsAt + (isDeep ? 2 * sumBytes : 0), 64);
}

/// Matrices are shared where there are enough of them; else each one by rows, and by columns where rows are few.
void ProductPlan::share(const ProductShape &shape, const Kernels &kernels, unsigned threads) {
  const int64_t matrices = int64_t(shape.lhsAt.size()), products = shape.rows * shape.columns * shape.depth;
  if (threads == 1)
    return;
  auto partsFor = [&](int64_t work) {
    return std::clamp<int64_t>(work / kPartProducts, threads, int64_t(threads) * kPartsPerThread);
  };
  if (matrices >= int64_t(threads) * 2) {
    numParts = unsigned(std::min(matrices, partsFor(products * matrices)));
    return;
  }
  const int64_t wanted = partsFor(products), wide = llvm::divideCeil(numPanels, int64_t(kernels.panels()));
  rowParts = unsigned(std::min(numTiles, wanted));
  columnParts = unsigned(std::min<int64_t>(llvm::divideCeil(wanted, int64_t(rowParts)), wide));
  numParts = rowParts * columnParts;
}

} // namespace tess::runtime::contract
