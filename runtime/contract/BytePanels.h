//===- BytePanels.h - operands of 8 bits as kernels read them ---*- C++ -*-===//
//
// A word has four elements of a column, which follow each other along the
// contracted axis. Kernels whose instruction multiplies unsigned by signed bytes
// add 128 to int8 rows, so each chunk of such a product has one line more behind
// it in every panel: -128 times the sums of its columns, with which sums begin.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/KernelAbi.h"

namespace tess::runtime::contract {

/// Where the bytes of a matrix lie.
struct ByteMatrix {
  const void *data;
  int64_t rowStride, columnStride;
};

/// Lines of a panel that has one more behind each chunk of `lines`, and the place of a line there.
constexpr int64_t linesWithOffsets(int64_t lines) { return lines + (lines + kContractLines - 1) / kContractLines; }
constexpr int64_t placeWithOffsets(int64_t line) { return line + line / kContractLines; }

/// Copies words of rows [begin, end) of columns [first, first + count) of a matrix to `to`: lines of kLanes words.
/// Missing columns and elements are zeros. `fetchesNext`: as many columns behind them come next, from memory.
void packByteLines(const ByteMatrix &rhs, int64_t begin, int64_t end, int64_t first, int64_t count, uint32_t *to,
                   bool fetchesNext = false);

/// Writes -128 times the sums of the columns of `lines` lines behind them.
void writeOffsets(uint32_t *panel, int64_t lines);

/// Copies rows [begin, end) of panels [first, last) of a right operand of `columns` columns to `to`, panel behind
/// panel. `begin` is that of a chunk. `hasOffsets`: with a line behind each chunk.
void packBytePanels(bool hasOffsets, const ByteMatrix &rhs, int64_t begin, int64_t end, int64_t columns, int64_t first,
                    int64_t last, char *to);

/// Copies elements [begin, end) along the contracted axis of `rows` rows of a left operand to `to`, as words: row by
/// row, `rowStride` words apart, where the elements of a row lie behind each other, else in lines of kLanes words.
void packByteRows(const ByteMatrix &lhs, unsigned rows, int64_t begin, int64_t end, int64_t rowStride, uint32_t *to);

} // namespace tess::runtime::contract
