//===- ProductPlan.cpp - what is decided for a product --------------------===//
#include "runtime/contract/ProductPlan.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tess::runtime::contract {

namespace {

/// Bytes of a block's panels in one chunk: half of a core's second-level cache, on most machines; and of its results,
/// which come back from the third level for each chunk; or of sums beside the panels in the second level.
constexpr int64_t kPanelBytes = 512 << 10, kResultBytes = 2 << 20, kSumBytes = 256 << 10;
/// Bytes of padded images of all of a batch, at most.
constexpr size_t kPaddedBytes = 64 << 20;
/// Bytes of a block's panels that are gathered from windows: they stay in the first level until all tiles have read
/// them.
constexpr int64_t kGatheredBytes = 24 << 10;
/// Multiplications of a part that takes about 20 us, below which sharing costs more than it brings; parts for each
/// thread where there are more, so that one which comes late leaves some to others.
constexpr int64_t kPartProducts = 1 << 20;
constexpr unsigned kPartsPerThread = 3;
/// Chunks whose sums are added in float32: more would be off by more than the sum of a chunk is.
constexpr int64_t kFlatChunks = 64;
/// Rows so far apart share sets of a first-level cache: those of a tile, and lines that one tile reads again and again.
constexpr int64_t kAliasBytes = 2048;
/// Rows from which on a right operand is packed whose rows are a page apart: 1024 by 128 by 1024 took 1.16 times as
/// long in place, 128 by 1024 by 1024 only 0.92.
constexpr int64_t kReusedRows = 256, kPageBytes = 4096;

} // namespace

/// Results behind each other, row by row.
static ResultForm rowMajor(const ProductShape &shape) {
  return {{1, 1, 1, shape.rows}, {0, 0, 0, shape.columns}, int64_t(kLanes), 1};
}

ProductPlan::ProductPlan(const ProductShape &shape, const Kernels &kernels, unsigned threads)
    : form(shape.right(), shape.ofKernel()), leftForm(shape.dtype, shape.ofKernel()),
      results(shape.results.value_or(rowMajor(shape))) {
  numPanels = llvm::divideCeil(shape.columns, int64_t(kLanes));
  numLines = form.lines(shape.depth);
  chunkLines = std::min(numLines, shape.chunkLines);
  numTiles = llvm::divideCeil(shape.rows, int64_t(kernels.rows()));
  smallTile = shape.rows / numTiles;
  numLargeTiles = shape.rows % numTiles;
  panelBytes = size_t(form.panelLines(shape.depth)) * form.lineBytes();
  const int64_t blockBytes = shape.hasWindowPanels() ? kGatheredBytes : kPanelBytes;
  blockPanels = blockBytes / (chunkLines * int64_t(form.lineBytes()));
  blockPanels = std::min(llvm::alignTo(std::max<int64_t>(blockPanels, 1), kernels.panels()), uint64_t(numPanels));
  isDeep = isFloat(form.ofKernel) && form.ofKernel != DType::Float64 && numLines > kFlatChunks * kContractLines &&
           shape.added != Added::EachChunk;
  const bool addsLater = shape.added == Added::TheSum && numLines > chunkLines;
  addsChunks = shape.added != Added::Nothing && !addsLater;
  sumsApart = isDeep || addsLater || byteWidth(shape.result()) < 4 || !results.isDirect(shape.hasWindowPanels());
  const int64_t tileBytes = kernels.rows() * blockPanels * int64_t(form.lineBytes());
  blockTiles = std::clamp<int64_t>((sumsApart ? kSumBytes : kResultBytes) / tileBytes, 1, numTiles);
  planOperands(shape, kernels);
  if (shape.hasWindowPanels())
    planWindowPanels(shape);
  else if (shape.windows && shape.windowUse == WindowUse::Columns)
    planWindowColumns(shape);
  share(shape, kernels, threads);
  fillsBlocks = gathersPanels || readsPanelsOnce(shape);
  packsAll &= !fillsBlocks;
  planMemory(shape, kernels);
}

/// Which operands are copied, and when.
void ProductPlan::planOperands(const ProductShape &shape, const Kernels &kernels) {
  const int64_t width = byteWidth(shape.dtype);
  auto aliases = [&](int64_t stride, int64_t uses) { return uses > 4 && stride * width % kAliasBytes == 0; };
  const bool skipsPages = numPanels > kernels.panels() && shape.rhsRow * byteWidth(shape.right()) % kPageBytes == 0;
  mayReadInPlace = !shape.hasPanels && form.isWord() && shape.rhsColumn == 1 && !shape.rhsRun && !shape.windows;
  needsPanels = shape.hasPanels || !form.isWord() || shape.rhsColumn != 1 || shape.rhsRun ||
                shape.packs.value_or(shape.rows > kReusedRows && skipsPages);
  packsLines = !shape.hasPanels && numTiles == 1;
  packsAll = needsPanels && !shape.hasPanels && !packsLines;
  packsLast = !needsPanels && !packsLines && shape.columns % kLanes;
  const bool isPaired = leftForm.ofKernel == shape.dtype && shape.lhsColumn == 1;
  const bool readsRows = leftForm.isWord() || (isPaired && shape.depth % form.perColumn == 0);
  const bool sharesSets = shape.lhsColumn == 1 ? aliases(shape.lhsRow, std::min<int64_t>(kernels.rows(), shape.rows))
                                               : aliases(shape.lhsColumn, numLines);
  copiesRows = shape.windows || !readsRows || (sharesSets && numPanels > int64_t(2) * kernels.panels());
}

/// The left operand is copied as a whole where kernels cannot read it in place; the right one is gathered block by
/// block.
void ProductPlan::planWindowPanels(const ProductShape &shape) {
  images.emplace(form, *shape.windows);
  gathersPanels = true;
  needsPanels = packsLines = packsAll = packsLast = copiesRows = false;
  const WeightForm &weight = *shape.weight;
  const bool isReadable = form.ofKernel == shape.dtype && shape.depth % form.perColumn == 0;
  const bool sharesSets = shape.rows > 4 && weight.rowStride * byteWidth(shape.dtype) % kAliasBytes == 0;
  copiesWeight = !weight.isInPlace() || !isReadable || sharesSets;
  if (copiesWeight) {
    weightWords = copiedWeightWords(form, shape.depth);
    leftBytes = size_t(weightWords * shape.rows) * form.wordBytes() * shape.lhsAt.size();
  }
}

/// Images are padded as a whole where that takes little memory, and several places read an element.
void ProductPlan::planWindowColumns(const ProductShape &shape) {
  if (shape.windows->places.size() == 1 || !PaddedImages::areModest(shape.windows->axes))
    return;
  images.emplace(form, *shape.windows);
  leftBytes = images->bytes() * shape.lhsAt.size();
  if (leftBytes <= kPaddedBytes)
    return;
  images.reset();
  leftBytes = 0;
}

/// Whether one block of one part reads panels, a chunk after the other, of a gradient for a weight: its contracted axis
/// is long, and panels of all of it would leave the caches before they are read.
bool ProductPlan::readsPanelsOnce(const ProductShape &shape) const {
  return shape.windows && shape.windowUse == WindowUse::Columns && packsAll && rowParts == 1 && numTiles <= blockTiles;
}

void ProductPlan::planMemory(const ProductShape &shape, const Kernels &kernels) {
  const bool keepsRight = packsAll || packsLast || gathersPanels;
  panelSlots = !keepsRight ? 0 : shape.rhsAt.size() == 1 || rowParts * columnParts > 1 ? 1 : numParts;
  slotBytes = gathersPanels ? images->bytes() : packsAll ? size_t(numPanels) * panelBytes : panelBytes;
  leftBytes = llvm::alignTo(leftBytes, 64);
  // Sums that are read by columns lie so that their rows share no set of a cache.
  sumStride = (blockPanels + ((results.columnStride != 1) != gathersPanels)) * int64_t(kLanes);
  const size_t sumElements = size_t(blockTiles * kernels.rows() * sumStride);
  const int64_t linePanels = std::min<int64_t>(numPanels, kernels.panels());
  linesAt = copiesRows ? packedRowsBytes(leftForm, kernels.rows()) : 0;
  sumsAt = linesAt + (packsLines ? size_t(linePanels * (chunkLines + form.hasOffsets)) * form.lineBytes() : 0);
  if (fillsBlocks) // a gathered panel ends with a line that is written again
    sumsAt += size_t(blockPanels * chunkLines + 1) * form.lineBytes();
  totalsAt = sumsAt + (sumsApart ? sumElements * form.wordBytes() : 0);
  partBytes = llvm::alignTo(totalsAt + (isDeep ? sumElements * sizeof(double) : 0), 64);
}

/// Shares rows and columns such that parts together read the fewest bytes: each part of rows reads the whole right
/// operand, and each part of columns the whole left one.
void ProductPlan::shareReading(const ProductShape &shape, int64_t wanted, int64_t wide) {
  const int64_t leftReads = shape.rows * shape.depth, rightReads = numPanels * int64_t(kLanes) * shape.depth;
  auto partsOfColumns = [&](int64_t parts) { return std::min(wide, int64_t(llvm::divideCeil(wanted, parts))); };
  auto reads = [&](int64_t parts) { return parts * rightReads + partsOfColumns(parts) * leftReads; };
  int64_t best = std::min(numTiles, wanted);
  for (int64_t parts = best - 1; parts > 0; --parts)
    if (parts * partsOfColumns(parts) >= std::min(wanted, best * partsOfColumns(best)) && reads(parts) < reads(best))
      best = parts;
  rowParts = unsigned(best);
  columnParts = unsigned(partsOfColumns(best));
}

/// Matrices are shared where there are enough of them; else each one by rows, and by columns where rows are few.
void ProductPlan::share(const ProductShape &shape, const Kernels &kernels, unsigned threads) {
  const int64_t matrices = shape.numMatrices(), products = shape.rows * shape.columns * shape.depth;
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
  if (gathersPanels) { // parts of columns gather what they read; those of rows would gather it again
    columnParts = unsigned(std::min(wide, wanted));
    rowParts = unsigned(std::min<int64_t>(llvm::divideCeil(wanted, int64_t(columnParts)), numTiles));
  } else {
    shareReading(shape, wanted, wide);
  }
  numParts = rowParts * columnParts;
}

} // namespace tess::runtime::contract
