//===- ByteDepthwise.h - convolutions of few channels of bytes --*- C++ -*-===//
//
// Exact sums over windows of groups with few channels. Vectors have kLanes channels
// of results. Rows of images are copied as int16 numbers less the zero point, in
// pairs that one instruction multiplies and adds: neighbours along a row of the
// window where a group has one channel, else two channels of the group. A ring
// keeps the rows that windows share, so each row is copied once for a part; rows
// beyond the edges have no terms.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/ByteWindows.h"

namespace tess::runtime::contract {

/// The convolutions of a shape. Immutable.
class ByteDepthwise {
public:
  /// Plans a shape without empty axes that fits().
  ByteDepthwise(const ByteWindowsShape &shape, unsigned threads);
  /// Whether groups have too few channels for panels of weights, and the rows of a window fit in the caches.
  static bool fits(const ByteWindowsShape &shape);

  /// Threads that it uses, and bytes that packed() and run() need for themselves.
  unsigned threads() const { return rowParts * blockParts > 1 ? numThreads : 1; }
  size_t workspaceBytes() const { return ownWeightBytes() + threadBytes * threads(); }

  /// Bytes of a packed weight. Equal texts are of equal ones from equal weights.
  size_t weightBytes() const { return size_t(numVectors * termsOfWindow()) * sizeof(PairVector); }
  std::string weightText() const;
  void pack(const void *weight, void *to) const;

  /// The packed weight: `weight` itself where it comes so. `workspace`: of workspaceBytes(), aligned to 64.
  const void *packed(const void *weight, void *workspace) const;
  /// Sums that run() gives need no correction: the zero point is taken from elements.
  const int32_t *weightSums(const void *) const { return nullptr; }
  int32_t zeroOfSums(int32_t) const { return 0; }
  /// Hands the sums of images by the packed weight to `take`, tile by tile, on any threads. Pads have the zero point of
  /// the images, `zero`. A window may come twice, from one thread.
  void run(const void *images, const void *packed, int32_t zero, void *workspace,
           llvm::function_ref<void(const ByteTile &)> take) const;

  /// Two numbers of each of kLanes channels.
  struct PairVector {
    int16_t numbers[2 * kLanes];
  };

private:
  friend class ByteDepthwiseWalk;

  void planPairs();
  void planRing();
  void share();
  void packVector(int64_t vector, const int8_t *weight, PairVector *to) const;

  int64_t channels() const { return s.resultChannels(); }
  /// The first channel of a vector: the last vector overlaps the one before it.
  int64_t channelOf(int64_t vector) const {
    return std::max<int64_t>(0, std::min(vector * kLanes, channels() - kLanes));
  }
  int64_t termsOfWindow() const { return s.slices().kernel * s.rows().kernel * pairsOfRow(); }
  /// Pairs of a row of the window.
  int64_t pairsOfRow() const { return steps * types; }
  /// Bytes of a row with its pads, as results read it: two columns at least.
  size_t copyBytes() const { return size_t(rowColumns * sources) * kLanes; }
  size_t ownWeightBytes() const { return s.hasPanels ? 0 : (weightBytes() + 63) / 64 * 64; }
  int64_t totalRows() const { return s.batch * s.slices().results * s.rows().results; }

  const ByteWindowsShape s;
  const bool isSingle; // one channel of images for each of results
  const unsigned numThreads;
  int64_t numVectors, numBlocks; // of channels; an overlapping vector belongs to the last block
  // Pairs of a column, places of a row where pairs begin, and columns from place to place.
  int64_t types, steps, stepColumns;
  int64_t sources;               // numbers of a column for each channel of results
  int64_t grain;                 // columns from pair to pair in a copied row, of which each has `types`
  int64_t rowColumns, rowPairs;  // of an image's row with pads, and of its copy
  int64_t ringRows, ringVectors; // rows of a slice that windows share; the size of all slices'
  int64_t blockVectors = 1;
  unsigned rowParts = 1, blockParts = 1;
  size_t threadBytes = 0;
};

} // namespace tess::runtime::contract
