//===- Results.h - where the results of a product lie -----------*- C++ -*-===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "llvm/ADT/SmallVector.h"

namespace tess::runtime::contract {

/// Places of results that are not row-major, in elements.
struct ResultForm {
  static constexpr unsigned kAxes = 4;
  /// Rows count over a box of these sizes, whose axes have these strides.
  int64_t sizes[kAxes], strides[kAxes];
  /// Column c is at c / kLanes * panelStride + c % kLanes * columnStride.
  int64_t panelStride, columnStride;
  /// Where matrix number i of the batch begins.
  llvm::SmallVector<int64_t, 1> at = {0};

  /// Whether a kernel can write results: rows are one axis, and columns of a panel lie side by side; or rows do, where
  /// they are the kernel's columns.
  bool isDirect(bool byColumns) const;
  /// From row to row where rows are one axis.
  int64_t rowStride() const { return strides[kAxes - 1]; }
};

/// Sums of a block of a product: rows [firstRow, firstRow + rows), and columns from `firstColumn` on, which begins a
/// panel where sums of one row lie side by side.
template <typename Sum> struct SumBlock {
  const Sum *sums;
  int64_t rowStride, columnStride; // one of the two is 1
  int64_t firstRow, rows, firstColumn, columns;
};

/// Writes them as elements of `dtype`. `out`: of the matrix.
void writeResults(const ResultForm &form, DType dtype, const SumBlock<float> &block, void *out);
void writeResults(const ResultForm &form, DType dtype, const SumBlock<double> &block, void *out);

} // namespace tess::runtime::contract
