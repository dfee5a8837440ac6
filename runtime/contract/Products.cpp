//===- Products.cpp - products of matrices --------------------------------===//
#include "runtime/contract/Products.h"

#include "runtime/contract/ProductBlock.h"
#include "runtime/contract/ShareParts.h"
#include "llvm/Support/MathExtras.h"

namespace tess::runtime::contract {

static const Kernels &kernelsOr(const Kernels *kernels, const ProductShape &shape) {
  return kernels ? *kernels : Kernels::of(shape.ofKernel());
}

Products::Products(ProductShape given, unsigned threads, const Kernels *ofTest)
    : shape(std::move(given)), kernels(kernelsOr(ofTest, shape)), numThreads(threads), plan(shape, kernels, threads) {}

static Matrix matrixAt(const void *base, int64_t bytes, int64_t row, int64_t column) {
  return {static_cast<const char *>(base) + bytes, row, column};
}

Matrix Products::lhsOf(const Operands &operands, int64_t matrix) const {
  const int64_t number = matrix % int64_t(shape.lhsAt.size());
  if (plan.copiesWeight) {
    const int64_t rowElements = plan.weightWords * plan.form.perColumn;
    return matrixAt(operands.lhs, number * shape.rows * plan.weightWords * int64_t(plan.form.wordBytes()), rowElements,
                    1);
  }
  if (plan.leftBytes)
    return matrixAt(operands.lhs, number * int64_t(plan.images->bytes()), 0, 0);
  const int64_t row = shape.weight ? shape.weight->rowStride : shape.lhsRow;
  return matrixAt(operands.lhs, shape.lhsAt[number] * byteWidth(shape.dtype), row, shape.weight ? 1 : shape.lhsColumn);
}

RightMatrix Products::rhsOf(const Operands &operands, int64_t matrix) const {
  int64_t at = shape.rhsAt[size_t(matrix) % shape.rhsAt.size()];
  return {matrixAt(operands.rhs, at * byteWidth(shape.right()), shape.rhsRow, shape.rhsColumn), shape.rhsRun,
          shape.rhsRunAt, plan.packsLines};
}

char *Products::outOf(const Operands &operands, int64_t matrix) const {
  return static_cast<char *>(operands.out) + shape.resultsAt(matrix) * byteWidth(shape.result());
}

char *Products::memoryOf(const Operands &operands, unsigned part) const {
  return operands.workspace + plan.slotBytes * plan.panelSlots + plan.partBytes * part;
}

/// The right operand where it comes packed, or those that were packed to `own`.
const char *Products::panelsOf(const Operands &operands, int64_t matrix, const char *own) const {
  if (!shape.hasPanels)
    return own;
  return static_cast<const char *>(operands.rhs) + size_t(matrix) % shape.rhsAt.size() * bytesOfMatrix();
}

/// Panels [begin, end), as far as they are packed; of windows as large a part of their images.
void Products::packPanels(const RightMatrix &rhs, int64_t begin, int64_t end, char *to) const {
  if (plan.gathersPanels)
    plan.images->copyRows(rhs.data, plan.images->numRows() * begin / plan.numPanels,
                          plan.images->numRows() * end / plan.numPanels, to);
  else if (plan.packsAll)
    contract::packPanels(plan.form, rhs, 0, shape.depth, shape.columns, begin, end,
                         to + size_t(begin) * plan.panelBytes);
  else if (plan.packsLast && end == plan.numPanels)
    contract::packPanels(plan.form, rhs, 0, shape.depth, shape.columns, end - 1, end, to);
}

std::string Products::panelsText() const {
  std::string text = "panels";
  auto append = [&](llvm::ArrayRef<int64_t> numbers) {
    const int64_t count = int64_t(numbers.size());
    for (llvm::ArrayRef<int64_t> list : {llvm::ArrayRef(count), numbers})
      text.append(reinterpret_cast<const char *>(list.data()), list.size() * sizeof(int64_t));
  };
  append({shape.depth, shape.columns, shape.rhsRow, shape.rhsColumn, shape.rhsRun, int64_t(plan.form.dtype),
          int64_t(plan.form.ofKernel)});
  append(shape.rhsAt);
  append(shape.rhsRunAt);
  return text;
}

void Products::pack(const void *rhs, void *to) const {
  Operands operands{nullptr, rhs, nullptr, nullptr};
  for (int64_t matrix = 0; matrix < int64_t(shape.rhsAt.size()); ++matrix)
    contract::packPanels(plan.form, rhsOf(operands, matrix), 0, shape.depth, shape.columns, 0, plan.numPanels,
                         static_cast<char *>(to) + matrix * bytesOfMatrix());
}

void Products::run(const void *lhs, const void *rhs, void *out, void *workspace) const {
  Operands operands{lhs, rhs, out, static_cast<char *>(workspace) + plan.leftBytes};
  if (plan.leftBytes) {
    copyLeft(lhs, static_cast<char *>(workspace));
    operands.lhs = workspace;
  }
  if (plan.rowParts * plan.columnParts == 1)
    return runMatrices(operands);
  for (int64_t matrix = 0; matrix < shape.numMatrices(); ++matrix)
    runOne(matrix, operands);
}

/// The rows of all groups, or their images, behind each other.
void Products::copyLeft(const void *from, char *to) const {
  const int64_t groups = int64_t(shape.lhsAt.size()), width = byteWidth(shape.dtype);
  const int64_t rowBytes = plan.weightWords * int64_t(plan.form.wordBytes());
  const int64_t rows = plan.copiesWeight ? shape.rows : plan.images->numRows();
  auto *elements = static_cast<const char *>(from);
  shareParts(numThreads, plan.numParts, [&](unsigned part) {
    const int64_t first = rows * part / plan.numParts, last = rows * (part + 1) / plan.numParts;
    for (int64_t group = 0; group < groups; ++group)
      if (plan.copiesWeight)
        copyWeightRows(plan.form, *shape.weight,
                       elements + (shape.lhsAt[group] + first * shape.weight->rowStride) * width, last - first,
                       shape.depth, to + (group * rows + first) * rowBytes);
      else
        plan.images->copyRows(elements + shape.lhsAt[group] * width, first, last,
                              to + size_t(group) * plan.images->bytes());
  });
}

/// One matrix, whose parts threads share. Parts of columns alone pack what they read.
void Products::runOne(int64_t matrix, const Operands &operands) const {
  const Matrix lhs = lhsOf(operands, matrix);
  const RightMatrix rhs = rhsOf(operands, matrix);
  // The larger parts come first, so that threads end together.
  auto place = [](unsigned part, unsigned parts, int64_t count) {
    return count / parts * part + std::min<int64_t>(part, count % parts);
  };
  const int64_t wide = kernels.panels(), numWide = llvm::divideCeil(plan.numPanels, wide);
  auto panelOf = [&](unsigned column) {
    return std::min(place(column, plan.columnParts, numWide) * wide, plan.numPanels);
  };
  const bool packsApart = plan.rowParts == 1 && !plan.gathersPanels;
  if (!packsApart && plan.panelSlots)
    shareParts(numThreads, plan.numParts, [&](unsigned part) {
      packPanels(rhs, place(part, plan.numParts, plan.numPanels), place(part + 1, plan.numParts, plan.numPanels),
                 operands.workspace);
    });
  shareParts(numThreads, plan.numParts, [&](unsigned part) {
    const unsigned row = part % plan.rowParts, column = part / plan.rowParts;
    const int64_t firstPanel = panelOf(column), lastPanel = panelOf(column + 1);
    if (packsApart)
      packPanels(rhs, firstPanel, lastPanel, operands.workspace);
    computeBlock(shape, plan, kernels,
                 {lhs, rhs, outOf(operands, matrix), panelsOf(operands, matrix, operands.workspace),
                  place(row, plan.rowParts, plan.numTiles), place(row + 1, plan.rowParts, plan.numTiles), firstPanel,
                  lastPanel, memoryOf(operands, part)});
  });
}

/// Whole matrices in each part. A right operand of all is packed once.
void Products::runMatrices(const Operands &operands) const {
  const int64_t matrices = shape.numMatrices();
  const bool packsOnce = shape.rhsAt.size() == 1;
  if (packsOnce)
    packPanels(rhsOf(operands, 0), 0, plan.numPanels, operands.workspace);
  shareParts(numThreads, plan.numParts, [&](unsigned part) {
    char *panels = operands.workspace + (packsOnce ? 0 : plan.slotBytes * part);
    for (int64_t matrix = matrices * part / plan.numParts; matrix < matrices * (part + 1) / plan.numParts; ++matrix) {
      const RightMatrix rhs = rhsOf(operands, matrix);
      if (!packsOnce)
        packPanels(rhs, 0, plan.numPanels, panels);
      computeBlock(shape, plan, kernels,
                   {lhsOf(operands, matrix), rhs, outOf(operands, matrix), panelsOf(operands, matrix, panels), 0,
                    plan.numTiles, 0, plan.numPanels, memoryOf(operands, part)});
    }
  });
}

} // namespace tess::runtime::contract
