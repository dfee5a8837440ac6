//===- QuantizedPanels.h - quantized weights as kernels read them -*- C++ -*-===//
//
// Panels of kLanes columns lie in blocks of some side by side, so that a tile of
// one row reads memory from its begin to its end. A line has for each column of
// the block a number of 8 bits, or a word with eight of 4 bits, the first of them
// lowest, which follow each other along the contracted axis. For rows of int8
// numbers are unsigned, larger by half their range (128 or 8), and four of 8 bits
// are a word. Scales lie apart, in the same order, a line for each group: so
// weights and scales are packed each by itself. Every level of processors reads
// the same blocks.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/Panels.h"
#include "runtime/schema/TileEntry.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tess::runtime::contract {

/// Weights (depth, columns) that are numbers of 8 or of 4 bits, times scales.
struct QuantizedShape {
  TileLines numbers; // Bytes or Nibbles
  int64_t depth, columns;
  int64_t group = 0;           // numbers of a column, one after the other, that share a scale; 0: all
  DType rows = DType::Float32; // by which they are multiplied, or Int8

  /// InvalidArgument unless `group` is 0 or a power of 2 from 8 to kContractLines, and there are columns and depth.
  llvm::Error check() const;
};

/// Where the lines of a shape lie.
class QuantizedForm {
public:
  explicit QuantizedForm(const QuantizedShape &shape);

  /// Numbers of a column in a line, and bytes of what has them.
  int64_t perColumn() const { return isNibbles ? 8 : byBytes ? 4 : 1; }
  int64_t columnBytes() const { return isNibbles || byBytes ? 4 : 1; }
  /// By how much each number of a word of a line is larger than the weight's.
  uint32_t offsets() const { return !byBytes ? 0 : isNibbles ? 0x88888888 : 0x80808080; }
  /// Panels side by side: a tile of one row has as many, of most.
  int64_t blockPanels() const { return byBytes ? 4 : 8; }
  int64_t numBlocks() const { return llvm::divideCeil(numPanels, blockPanels()); }
  /// Panels of a block, and bytes of one of its lines.
  int64_t panelsOf(int64_t block) const { return std::min(blockPanels(), numPanels - block * blockPanels()); }
  int64_t lineBytes(int64_t panels) const { return panels * kLanes * columnBytes(); }
  /// Bytes of all numbers, and before those of a line of a block.
  size_t bytes() const { return size_t(numLines * lineBytes(numPanels)); }
  int64_t lineAt(int64_t block, int64_t line) const {
    return block * numLines * lineBytes(blockPanels()) + line * lineBytes(panelsOf(block));
  }
  /// Number of all float32 scales, and of those before a line of a block.
  size_t numScales() const { return size_t(scaleLines * numPanels * kLanes); }
  int64_t scalesAt(int64_t block, int64_t line) const {
    return (block * scaleLines * blockPanels() + line * panelsOf(block)) * kLanes;
  }
  /// Lines of scales before that of a line of numbers.
  int64_t scaleLineOf(int64_t line) const { return scaleLines == 1 ? 0 : line / groupLines; }

  bool isNibbles, byBytes; // numbers of 4 bits; rows are int8
  int64_t numPanels;
  int64_t numLines;   // with those of zeros that fill the last group
  int64_t chunkLines; // of 256 numbers of 8 bits, or 2048 of 4 bits
  int64_t groupLines; // where all share a scale, each chunk is a group
  int64_t scaleLines; // one where all share a scale
};

/// Copies lines [first, last) of a block of a shape that check() accepts to `to`. Numbers: two's complement int8 at
/// (column, k); of 4 bits those of k and k + 1, for even k, share the byte at (column, k / 2), the first in its lower
/// half. `first` is that of a chunk.
void packNumbers(const QuantizedShape &shape, const void *numbers, int64_t block, int64_t first, int64_t last,
                 char *to);
/// Copies all of them, of QuantizedForm::bytes().
void packNumbers(const QuantizedShape &shape, const void *numbers, char *to);
/// Copies the float32 scales at (column, k / group) to `to`, of QuantizedForm::numScales().
void packScales(const QuantizedShape &shape, const float *scales, float *to);

} // namespace tess::runtime::contract
