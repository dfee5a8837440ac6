//===- Windows.h - windows of images as a matrix ----------------*- C++ -*-===//
//
// The matrix of a convolution: a row for each window, batch first, and a column
// for each channel of each of its places, places first. Elements beyond the edges
// are zeros. Nobody makes all of it: parts are gathered when a tile reads them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/Panels.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <vector>

namespace tess::runtime::contract {

/// Windows along one axis: `size` elements in the image and `results` windows. Window i begins at element i * stride -
/// pad, and its place k is k * dilation further.
struct WindowAxis {
  int64_t size = 1, results = 1, kernel = 1, stride = 1, pad = 0, dilation = 1;

  /// The padding that the last window needs; negative when no window reaches the last elements.
  int64_t padEnd() const { return (results - 1) * stride + (kernel - 1) * dilation + 1 - size - pad; }
};

/// Where the elements of images lie; strides in elements. Channels are in blocks of `block` that lie side by side.
struct ImageForm {
  int64_t batchStride, blockStride, block;
  int64_t strides[3];

  int64_t channelAt(int64_t channel) const { return channel / block * blockStride + channel % block; }
};

/// Images and the windows of them.
class Windows {
public:
  static constexpr unsigned kAxes = 3;
  /// A number of each axis.
  using Numbers = std::array<int64_t, kAxes>;

  Windows(int64_t batch, int64_t channels, const std::array<WindowAxis, kAxes> &axes, const ImageForm &form);

  int64_t rows() const { return batch * axes[0].results * axes[1].results * axes[2].results; }
  int64_t columns() const { return int64_t(places.size()) * channels; }
  /// Whether windows of an image are its elements, one after the other.
  bool areElements() const;

  /// A place of windows: how far it is from where they begin.
  struct Place {
    Numbers steps;
    int64_t at; // elements
  };

  int64_t batch, channels;
  std::array<WindowAxis, kAxes> axes;
  ImageForm form;
  std::vector<Place> places;
};

/// Windows that follow each other along the last axis.
struct WindowRun {
  int64_t row, count;      // in what is gathered
  int64_t at;              // the place before the first window's, in elements; may be outside of the image
  Windows::Numbers origin; // that place, along each axis
  bool isInside;           // no place of the windows is beyond an edge
};
using WindowRuns = llvm::SmallVector<WindowRun, 16>;

/// The runs of `rows` rows of the matrix.
WindowRuns runsOf(const Windows &windows, int64_t firstRow, int64_t rows);

/// Gathers columns [begin, end) of `rows` rows of the matrix, as packRows() copies rows of one that is there. `rows` is
/// at most Kernels::kMostRows, `begin` even.
RowStrides gatherRows(const LineForm &form, const Windows &windows, const void *image, int64_t firstRow, unsigned rows,
                      int64_t begin, int64_t end, void *to);

/// Gathers the windows of `runs` in columns of the matrix in the order of weights, whose number is channel *
/// places.size() + place: the transposed matrix's rows. Images have their channels apart (a block of 1).
RowStrides gatherColumns(const LineForm &form, const Windows &windows, const WindowRuns &runs, const void *image,
                         int64_t firstColumn, unsigned columns, void *to);

} // namespace tess::runtime::contract
