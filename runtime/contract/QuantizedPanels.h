//===- QuantizedPanels.h - quantized weights as kernels read them -*- C++ -*-===//
//
// Panels of kLanes columns lie in blocks of kBlockPanels side by side, so that a
// tile of one row reads memory from its begin to its end. A line has for each
// column of the block a number of 8 bits, or a word with eight of 4 bits, the
// first of them lowest, which follow each other along the contracted axis. Lines
// come in groups, and behind those of a group lie its float32 scales, one for
// each column. Every level of processors reads the same blocks.
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
  int64_t group = 0; // numbers of a column, one after the other, that share a scale; 0: all

  /// InvalidArgument unless `group` is 0 or a power of 2 from 8 to kContractLines, and there are columns and depth.
  llvm::Error check() const;
};

/// Weights as a caller has them. Numbers: two's complement int8 at (k, column); of 4 bits those of k and k + 1, for
/// even k, share the byte at (k / 2, column), the first in its lower half. Scales: float32 at (k / group, column).
/// Strides count elements, or such bytes.
struct QuantizedWeights {
  Matrix numbers, scales;
};

/// Where the lines of a shape lie.
class QuantizedForm {
public:
  static constexpr int64_t kBlockPanels = 8;

  explicit QuantizedForm(const QuantizedShape &shape);

  /// Numbers of a column in a line, and bytes of what has them.
  int64_t perColumn() const { return isNibbles ? 8 : 1; }
  int64_t columnBytes() const { return isNibbles ? 4 : 1; }
  int64_t numBlocks() const { return (numPanels + kBlockPanels - 1) / kBlockPanels; }
  /// Panels of a block, and bytes of one of its lines, of a group with its scales, and before the block.
  int64_t panelsOf(int64_t block) const { return std::min(kBlockPanels, numPanels - block * kBlockPanels); }
  int64_t lineBytes(int64_t panels) const { return panels * kLanes * columnBytes(); }
  int64_t groupBytes(int64_t panels) const { return groupLines * lineBytes(panels) + panels * kScaleBytes; }
  int64_t blockAt(int64_t block) const { return block * bytesOf(kBlockPanels); }
  /// Bytes of all.
  size_t bytes() const { return size_t(blockAt(numBlocks() - 1) + bytesOf(panelsOf(numBlocks() - 1))); }

  static constexpr int64_t kScaleBytes = kLanes * sizeof(float); // of a panel
  bool isNibbles;
  int64_t numPanels;
  int64_t numLines;              // with those of zeros that fill the last group
  int64_t groupLines, numGroups; // where all share a scale, each chunk is a group

private:
  int64_t bytesOf(int64_t panels) const { return numLines * lineBytes(panels) + numGroups * panels * kScaleBytes; }
};

/// Copies weights of a shape that check() accepts to `to`, of QuantizedForm::bytes().
void packWeights(const QuantizedShape &shape, const QuantizedWeights &weights, char *to);

} // namespace tess::runtime::contract
