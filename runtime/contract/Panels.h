//===- Panels.h - operands as kernels read them -----------------*- C++ -*-===//
//
// The right operand of a product lies in panels of kLanes columns: a line of 64
// bytes (128 of float64) has one element of each column, or two of bfloat16, that
// follow each other along the contracted axis. Missing columns and elements are
// zeros. Every level of processors reads the same panels.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "runtime/schema/KernelAbi.h"

#include <cstddef>

namespace tess::runtime::contract {

/// Where the elements of a matrix lie; strides in elements.
struct Matrix {
  const void *data;
  int64_t rowStride, columnStride;
};

/// How a dtype is contracted: the dtype of kernels, and how many elements a line has for each column.
struct LineForm {
  explicit LineForm(DType dtype);

  DType dtype, ofKernel;
  int64_t perColumn;
  /// Bytes of a line's part for one column, and of a line.
  size_t wordBytes() const { return ofKernel == DType::Float64 ? 8 : 4; }
  size_t lineBytes() const { return wordBytes() * kLanes; }
  /// Lines that `depth` elements take.
  int64_t lines(int64_t depth) const { return (depth + perColumn - 1) / perColumn; }
};

/// Copies rows [begin, end) of panels [first, last) of a right operand of `columns` columns to `to`, panel behind
/// panel.
void packPanels(const LineForm &form, const Matrix &rhs, int64_t begin, int64_t end, int64_t columns, int64_t first,
                int64_t last, char *to);

/// Strides of a copy, in words of LineForm.
struct RowStrides {
  int64_t row, line;
};
/// Copies elements [begin, end) along the contracted axis of `rows` rows of a left operand to `to`.
RowStrides packRows(const LineForm &form, const Matrix &lhs, unsigned rows, int64_t begin, int64_t end, void *to);
/// Bytes of such a copy of `rows` rows over one chunk.
size_t packedRowsBytes(const LineForm &form, unsigned rows);

} // namespace tess::runtime::contract
