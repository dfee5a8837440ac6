//===- ByteWindows.h - convolutions of bytes --------------------*- C++ -*-===//
//
// Exact sums over the windows of images whose channels lie side by side. Elements
// of a window that follow each other in memory are a segment: a row of the window
// where its columns are neighbours, else one place. A tile adds the products of one
// segment after the other, each as a chunk of lines, to sums in the first level of
// the caches. Windows without pads are read in place; else parts of images are
// copied with their pads, which have the zero point. No matrix of windows is made.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/Kernels.h"
#include "runtime/contract/Windows.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <vector>

namespace tess::runtime::contract {

/// A convolution of images of int8 or uint8 by a weight of int8 [groups * out, in, slices, rows, columns]. Channels are
/// those of a group.
struct ByteWindowsShape {
  DType dtype; // of images
  int64_t batch, groups, in, out;
  std::array<WindowAxis, Windows::kAxes> axes; // of slices, rows and columns
  /// Images have their channels side by side, [batch, slices, rows, columns, channels]; else they are [batch, channels,
  /// slices, rows, columns].
  bool isChannelsLast = false;
  /// The weight comes packed.
  bool hasPanels = false;

  const WindowAxis &slices() const { return axes[0]; }
  const WindowAxis &rows() const { return axes[1]; }
  const WindowAxis &columns() const { return axes[2]; }
  int64_t channels() const { return groups * in; }
  int64_t resultChannels() const { return groups * out; }
  /// Elements of a channel of an image, results of one of a result, and places of a window.
  int64_t imagePlane() const { return slices().size * rows().size * columns().size; }
  int64_t plane() const { return slices().results * rows().results * columns().results; }
  int64_t places() const { return slices().kernel * rows().kernel * columns().kernel; }
  /// Terms of a sum, and multiplications of all.
  int64_t depth() const { return in * places(); }
  int64_t products() const { return batch * plane() * resultChannels() * depth(); }
};

/// Sums of some windows that follow each other in an image, by some channels. The sum of window w and channel c is
/// sums[w * stride + c].
struct ByteTile {
  const int32_t *sums;
  int64_t stride;
  int64_t image, window, windows;
  int64_t channel, channels; // of all groups
};

/// The convolutions of a shape. Immutable.
class ByteWindows {
public:
  /// Plans a shape without empty axes that fits().
  ByteWindows(const ByteWindowsShape &shape, unsigned threads);
  /// Whether copies with pads are not much larger than images, and groups fill panels.
  static bool fits(const ByteWindowsShape &shape);

  /// Threads that it uses, and bytes that packed() and run() need for themselves.
  unsigned threads() const { return rowParts * columnParts > 1 ? numThreads : 1; }
  size_t workspaceBytes() const { return ownWeightBytes() + threadBytes * threads(); }

  /// Bytes of a packed weight. Equal texts are of equal ones from equal weights.
  size_t weightBytes() const { return panelBytes * size_t(numPanels()) + sumBytes(); }
  std::string weightText() const;
  void pack(const void *weight, void *to) const { packBy(1, weight, to); }

  /// The packed weight: `weight` itself where it comes so. `workspace`: of workspaceBytes(), aligned to 64.
  const void *packed(const void *weight, void *workspace) const;
  /// The sum of a packed weight's elements for each channel of results.
  const int32_t *weightSums(const void *packed) const;
  /// The zero point of the numbers that run() multiplies, of images whose own one is `zero`.
  int32_t zeroOfSums(int32_t zero) const { return zero + (addsHalf ? 128 : 0); }
  /// Hands the sums of images by the packed weight to `take`, tile by tile, on any threads. Pads have the zero point of
  /// the images, `zero`.
  void run(const void *images, const void *packed, int32_t zero, void *workspace,
           llvm::function_ref<void(const ByteTile &)> take) const;

private:
  friend class ByteWindowsWalk;

  /// Bytes of a window that follow each other, and their first line in a panel.
  struct Segment {
    int64_t slice, row, column; // of the place that it begins with
    int64_t bytes, line;
    int64_t lines() const { return (bytes + 3) / 4; }
  };

  void planSegments();
  void planRows();
  void share();
  void planMemory();
  void packBy(unsigned threads, const void *weight, void *to) const;
  void packPanel(int64_t panel, const int8_t *weight, char *to, int32_t *sums) const;
  void packChannel(const int8_t *weight, char *ordered, uint32_t *words) const;

  int64_t panelsOfGroup() const { return (s.out + kLanes - 1) / kLanes; }
  int64_t numPanels() const { return s.groups * panelsOfGroup(); }
  size_t sumBytes() const { return size_t(s.resultChannels() + kLanes) * sizeof(int32_t); }
  size_t ownWeightBytes() const { return s.hasPanels ? 0 : (weightBytes() + 63) / 64 * 64; }
  /// Windows of a tile at most: of as many kernels' rows as sums have place for, so that its end is worth a call.
  int64_t tileWindows() const { return Kernels::kMostRows / kernels.rows() * kernels.rows(); }
  int64_t totalRows() const { return s.batch * s.slices().results * rowsOfSlice; }
  /// Rows of an image from the first that windows of `count` rows of results read to the last one.
  int64_t spanOf(int64_t count) const {
    return (count - 1) * s.rows().stride + (s.rows().kernel - 1) * s.rows().dilation + 1;
  }

  const ByteWindowsShape s;
  const bool mayBeInPlace; // where images have their channels side by side
  const bool addsHalf;     // to int8 elements where they are copied, so that they are uint8
  const bool hasOffsets;   // a line of a panel behind those of each segment (BytePanels.h)
  const Kernels &kernels;
  const unsigned numThreads;
  std::vector<Segment> segments;
  size_t panelBytes = 0;
  bool isInPlace = false, isFlat = false; // windows: read in place; single elements, so that all are one row
  int64_t rowsOfSlice = 0, tilesOfRow = 0;
  int64_t rowBytes = 0; // from row to row of what is read
  unsigned rowParts = 1, columnParts = 1;
  int64_t blockRows = 0; // rows of results whose windows are read together
  size_t copyBytes = 0, threadBytes = 0;
};

} // namespace tess::runtime::contract
