//===- Panels.h - operands as kernels read them -----------------*- C++ -*-===//
//
// The right operand of a product lies in panels of kLanes columns: a line of 64
// bytes (128 of float64) has one element of each column, or two of bfloat16 or
// four of 8 bits, that follow each other along the contracted axis. Missing
// columns and elements are zeros. Every level of processors reads the same panels.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "runtime/contract/BytePanels.h"
#include "runtime/schema/KernelAbi.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstddef>

namespace tess::runtime::contract {

/// Where the elements of a matrix lie; strides in elements.
struct Matrix {
  const void *data;
  int64_t rowStride, columnStride;
};

/// A right operand, whose rows may lie in runs: row k is row `k % runLength` of the matrix that begins runAt[k /
/// runLength] elements behind `data`. One of bytes has one run.
struct RightMatrix : Matrix {
  int64_t runLength = 0; // 0: all rows are one run
  llvm::ArrayRef<int64_t> runAt = {};
  bool isReadOnce = false; // by a few rows, so that it comes from memory
};

/// How an operand of a dtype is contracted: the dtype of kernels, and how many elements a line has for each column. The
/// right operand beside int8 and uint8 is int8.
struct LineForm {
  /// For two operands of the dtype.
  explicit LineForm(DType dtype);
  /// By kernels of another float dtype, to which elements are widened.
  LineForm(DType dtype, DType ofKernel);

  DType dtype, ofKernel;
  int64_t perColumn;
  bool hasOffsets; // a line of a panel behind those of each chunk (BytePanels.h)
  /// Whether a kernel reads an element as a word.
  bool isWord() const { return ofKernel == dtype && perColumn == 1; }
  /// Bytes of a line's part for one column, and of a line.
  size_t wordBytes() const { return ofKernel == DType::Float64 ? 8 : 4; }
  size_t lineBytes() const { return wordBytes() * kLanes; }
  /// Lines that `depth` elements take.
  int64_t lines(int64_t depth) const { return (depth + perColumn - 1) / perColumn; }
  /// Lines that they take in a panel, and the place of a line there.
  int64_t panelLines(int64_t depth) const { return hasOffsets ? linesWithOffsets(lines(depth)) : lines(depth); }
  int64_t placeOf(int64_t line) const { return hasOffsets ? placeWithOffsets(line) : line; }
};

/// Copies rows [begin, end) of panels [first, last) of a right operand of `columns` columns to `to`, panel behind
/// panel.
void packPanels(const LineForm &form, const RightMatrix &rhs, int64_t begin, int64_t end, int64_t columns,
                int64_t first, int64_t last, char *to);

/// Words from row to row of a copy, so many that rows share no set of a cache.
constexpr int64_t kCopiedRowWords = kContractLines + 16;
/// Strides of a copy, in words of LineForm.
struct RowStrides {
  int64_t row, line;
};
/// Copies elements [begin, end) along the contracted axis of `rows` rows of a left operand to `to`.
RowStrides packRows(const LineForm &form, const Matrix &lhs, unsigned rows, int64_t begin, int64_t end, void *to);
/// Bytes of such a copy of `rows` rows over one chunk.
size_t packedRowsBytes(const LineForm &form, unsigned rows);

} // namespace tess::runtime::contract
