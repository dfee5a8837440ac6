//===- PaddedBoxes.h - parts of images with their margins -------*- C++ -*-===//
//
// Copies of the elements that a box of windows reads, of one channel or of kLanes
// channels side by side: widened, and with zeros beyond the edges. A row of one
// channel is split by residues modulo the stride, so that the elements which
// neighbouring windows have at one place follow each other.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/Windows.h"
#include "runtime/device/Elements.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

namespace tess::runtime::contract {

using Numbers = Windows::Numbers;
using WindowAxes = std::array<WindowAxis, Windows::kAxes>;

/// Channels of an image: lane l begins laneAt[l] elements behind `data`.
template <typename T> struct Channels {
  const T *data;
  int64_t laneAt[kLanes];
  int64_t strides[Windows::kAxes]; // of a channel, in elements
};

/// Windows of an image, and the elements that they read.
struct WindowBox {
  /// Elements [first, last) of a row with one residue are inside of the image; `at`: of the first of those.
  struct Line {
    int64_t first, last, at;
  };

  Numbers first, counts;       // windows along each axis
  Numbers begin, reach;        // elements along each axis, some beyond the edges
  Numbers insideFirst, inside; // those of the image
  llvm::SmallVector<Line, 2> lines;
};

/// Most of a box.
struct BoxLimits {
  int64_t elements; // of its copy
  int64_t vectors;  // of windows
};

/// The boxes that the windows of an image lie in.
class PaddedBoxes {
public:
  /// The largest boxes within the limits, or of one vector: whole rows before whole slices before the whole image.
  /// `lanes`: 1 or kLanes. `vector`: elements that are read at a time, of several windows where `lanes` is 1.
  PaddedBoxes(const WindowAxes &axes, int64_t lanes, int64_t vector, BoxLimits limits);

  int64_t count() const { return boxes[0] * boxes[1] * boxes[2]; }
  WindowBox box(int64_t number) const;
  /// Windows of the largest box.
  const Numbers &counts() const { return most; }
  /// Vectors of the windows of a row of a box.
  int64_t vectors(int64_t windows) const { return lanes == 1 ? (windows + vector - 1) / vector : windows; }

  /// Elements of a copy, with what the last vector reads beyond it.
  int64_t elements() const { return copied[0] * copied[1] * rowPitch + vector; }
  /// Where a copy has place `place` of the first window, and how far it is from there to the same place of window
  /// number `window` of the box.
  int64_t placeAt(const Numbers &place) const;
  int64_t windowAt(const Numbers &window) const {
    const int64_t rows = window[0] * axes[0].stride * copied[1] + window[1] * axes[1].stride;
    return rows * rowPitch + window[2] * columnStep;
  }

  /// Writes the zeros of a box, which copies of it leave alone.
  template <typename Sum> void clear(Sum *to) const { std::fill_n(to, elements(), Sum(0)); }
  /// Copies the elements of the image that a box reads.
  template <typename T, typename Sum> void copy(const WindowBox &box, const Channels<T> &channels, Sum *to) const;

private:
  void resize(unsigned axis, int64_t count);
  bool isWithin(BoxLimits limits) const;
  void findLines(WindowBox &box) const;
  /// Elements of the image along an axis that `count` windows reach.
  int64_t reachOf(unsigned axis, int64_t count) const;
  /// The first place of a window along an axis, which is not the one of number 0 where windows are flipped.
  int64_t lowest(unsigned axis) const;

  WindowAxes axes;
  int64_t lanes, vector;
  Numbers most, boxes, copied;
  int64_t residues, linePitch = 0, rowPitch = 0; // of a row: lines of elements with one residue
  int64_t columnStep;                            // to the next window of a row
  int64_t lead = 0;                              // before a line, so that vectors of the image are aligned
};

} // namespace tess::runtime::contract
