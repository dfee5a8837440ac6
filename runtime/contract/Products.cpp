//===- Products.cpp - products of matrices --------------------------------===//
#include "runtime/contract/Products.h"

#include "runtime/contract/ProductBlock.h"
#include "runtime/threads/ParallelFor.h"

#include <algorithm>
#include <atomic>

namespace tess::runtime::contract {

/// Calls body(0) .. body(parts - 1) on at most `threads` threads, of which each takes the next part when it is free. A
/// region has a thread for each of its own parts, and more threads than cores would delay all regions to come.
static void shareParts(unsigned threads, unsigned parts, llvm::function_ref<void(unsigned part)> body) {
  std::atomic<unsigned> next{0};
  parallelRun(std::min(threads, parts), [&](unsigned) {
    for (unsigned part = next++; part < parts; part = next++)
      body(part);
  });
}

static const Kernels &kernelsOr(const Kernels *kernels, DType dtype) {
  return kernels ? *kernels : Kernels::of(LineForm(dtype).ofKernel);
}

Products::Products(ProductShape given, unsigned threads, const Kernels *ofTest)
    : shape(std::move(given)), kernels(kernelsOr(ofTest, shape.dtype)), numThreads(threads),
      plan(shape, kernels, threads) {}

static Matrix matrixAt(const void *base, int64_t bytes, int64_t row, int64_t column) {
  return {static_cast<const char *>(base) + bytes, row, column};
}

Matrix Products::lhsOf(const Operands &operands, int64_t matrix) const {
  return matrixAt(operands.lhs, shape.lhsAt[matrix] * byteWidth(shape.dtype), shape.lhsRow, shape.lhsColumn);
}

Matrix Products::rhsOf(const Operands &operands, int64_t matrix) const {
  int64_t at = shape.rhsAt[shape.rhsAt.size() == 1 ? 0 : matrix];
  return matrixAt(operands.rhs, at * byteWidth(shape.dtype), shape.rhsRow, shape.rhsColumn);
}

char *Products::outOf(const Operands &operands, int64_t matrix) const {
  return static_cast<char *>(operands.out) + matrix * shape.rows * shape.columns * byteWidth(shape.dtype);
}

char *Products::memoryOf(const Operands &operands, unsigned part) const {
  return operands.workspace + plan.slotBytes * plan.panelSlots + plan.partBytes * part;
}

/// The right operand where it comes packed, or those that were packed to `own`.
const char *Products::panelsOf(const Operands &operands, const char *own) const {
  return shape.hasPanels ? static_cast<const char *>(operands.rhs) : own;
}

/// Panels [begin, end), as far as they are packed.
void Products::packPanels(const Matrix &rhs, int64_t begin, int64_t end, char *to) const {
  if (plan.packsAll)
    contract::packPanels(plan.form, rhs, 0, shape.depth, shape.columns, begin, end,
                         to + size_t(begin) * plan.panelBytes);
  else if (plan.packsLast && end == plan.numPanels)
    contract::packPanels(plan.form, rhs, 0, shape.depth, shape.columns, end - 1, end, to);
}

void Products::pack(const void *rhs, void *to) const {
  Operands operands{nullptr, rhs, nullptr, nullptr};
  contract::packPanels(plan.form, rhsOf(operands, 0), 0, shape.depth, shape.columns, 0, plan.numPanels,
                       static_cast<char *>(to));
}

void Products::run(const void *lhs, const void *rhs, void *out, void *workspace) const {
  Operands operands{lhs, rhs, out, static_cast<char *>(workspace)};
  if (plan.rowParts * plan.columnParts == 1)
    return runMatrices(operands);
  for (int64_t matrix = 0; matrix < int64_t(shape.lhsAt.size()); ++matrix)
    runOne(matrix, operands);
}

/// One matrix, whose parts threads share. Parts of columns alone pack what they read.
void Products::runOne(int64_t matrix, const Operands &operands) const {
  const Matrix lhs = lhsOf(operands, matrix), rhs = rhsOf(operands, matrix);
  auto place = [](unsigned part, unsigned parts, int64_t count) { return count * part / parts; };
  const bool packsApart = plan.rowParts == 1;
  if (!packsApart && plan.panelSlots)
    shareParts(numThreads, plan.numParts, [&](unsigned part) {
      packPanels(rhs, place(part, plan.numParts, plan.numPanels), place(part + 1, plan.numParts, plan.numPanels),
                 operands.workspace);
    });
  shareParts(numThreads, plan.numParts, [&](unsigned part) {
    const unsigned row = part % plan.rowParts, column = part / plan.rowParts;
    const int64_t firstPanel = place(column, plan.columnParts, plan.numPanels),
                  lastPanel = place(column + 1, plan.columnParts, plan.numPanels);
    if (packsApart)
      packPanels(rhs, firstPanel, lastPanel, operands.workspace);
    computeBlock(shape, plan, kernels,
                 {lhs, rhs, outOf(operands, matrix), panelsOf(operands, operands.workspace),
                  place(row, plan.rowParts, plan.numTiles), place(row + 1, plan.rowParts, plan.numTiles), firstPanel,
                  lastPanel, memoryOf(operands, part)});
  });
}

/// Whole matrices in each part. A right operand of all is packed once.
void Products::runMatrices(const Operands &operands) const {
  const int64_t matrices = int64_t(shape.lhsAt.size());
  const bool packsOnce = shape.rhsAt.size() == 1;
  if (packsOnce)
    packPanels(rhsOf(operands, 0), 0, plan.numPanels, operands.workspace);
  shareParts(numThreads, plan.numParts, [&](unsigned part) {
    char *panels = operands.workspace + (packsOnce ? 0 : plan.slotBytes * part);
    for (int64_t matrix = matrices * part / plan.numParts; matrix < matrices * (part + 1) / plan.numParts; ++matrix) {
      const Matrix rhs = rhsOf(operands, matrix);
      if (!packsOnce)
        packPanels(rhs, 0, plan.numPanels, panels);
      computeBlock(shape, plan, kernels,
                   {lhsOf(operands, matrix), rhs, outOf(operands, matrix), panelsOf(operands, panels), 0, plan.numTiles,
                    0, plan.numPanels, memoryOf(operands, part)});
    }
  });
}

} // namespace tess::runtime::contract
