//===- PaddedImages.h - images whose windows lie side by side ---*- C++ -*-===//
//
// A copy of images has the zeros beyond their edges and keeps elements of one
// residue by the last axis's stride side by side, so that neighbouring windows
// have neighbours at every place. The transposed matrix of windows, whose rows are
// in the order of weights (channel * places + place), is gathered from it by
// vectors: as panels of a right operand, or as rows of a left one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/Windows.h"

namespace tess::runtime::contract {

class PaddedImages {
public:
  /// For row-major images.
  PaddedImages(const LineForm &form, const Windows &windows);

  /// Bytes of the copy.
  size_t bytes() const;
  /// Rows of the copy along the last axis.
  int64_t numRows() const;
  /// Copies rows [begin, end) from images to a copy that begins at `to`.
  void copyRows(const void *images, int64_t begin, int64_t end, char *to) const;

  /// Gathers elements [begin, end) along the contracted axis of panels [first, last) from a copy, panel behind panel;
  /// and writes a line behind them. Columns without a window have any numbers.
  void gather(const char *copy, int64_t begin, int64_t end, int64_t first, int64_t last, char *to) const;

  /// Windows [first, first + count) in the copy.
  WindowRuns runsOf(int64_t first, int64_t count) const;
  /// Gathers them at `columns` elements along weights, as gatherColumns() does.
  RowStrides gatherColumns(const char *copy, const WindowRuns &runs, int64_t firstColumn, unsigned columns,
                           void *to) const;

  /// Whether the copy of images is not much larger than they and their results are.
  static bool areModest(const std::array<WindowAxis, Windows::kAxes> &axes);

private:
  /// Elements of the last axis with one residue: which of the copy are of the image, and where the first of these is.
  struct Residue {
    int64_t first, last, at;
  };
  template <typename T, typename W> void copyRow(const T *row, W *out) const;
  template <typename T> void copyRowsOf(const T *images, int64_t begin, int64_t end, char *to) const;
  template <typename W> void gatherAs(const W *copy, int64_t begin, int64_t end, int64_t panel, char *to) const;
  /// Calls fn(run, count, at) for runs of neighbours among windows [first, first + count): the number of the first one,
  /// how many, and where its place begins in the copy.
  template <typename Fn> void visitRuns(int64_t first, int64_t count, Fn &&fn) const;
  /// Elements of a channel of the copy.
  int64_t plane() const { return sizes[0] * sizes[1] * sizes[2]; }

  const LineForm form;
  const Windows windows;
  Windows::Numbers sizes;  // of the copy; the last one in residues
  Windows::Numbers origin; // of an image, in its copy
  std::vector<Residue> residues;
  int64_t residueSize;          // elements of the last axis with one residue
  std::vector<int64_t> offsets; // of places, in the copy
};

} // namespace tess::runtime::contract
