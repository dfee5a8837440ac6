//===- WinogradImages.h - squares of images at the points -------*- C++ -*-===//
#pragma once

#include "runtime/contract/WinogradShape.h"

namespace tess::runtime::contract::winograd {

/// Squares that follow each other along a row of squares of one image.
struct SquareRun {
  int64_t image, row, column, count;
  int64_t place; // of the first one, in a block
};

// `isWide`: by vectors of 512 bits, which have the bits of others.

/// Bytes that a transform needs for itself where runs have so many squares.
size_t bandBytes(int64_t squares);

/// Transforms channels [channel, channel + kLanes) of the squares of `run`. Square i is at `to` + i * stride, and its
/// points are `apart` apart.
void squaresToPoints(const WinogradShape &shape, bool isWide, const void *image, const SquareRun &run, int64_t channel,
                     float *to, int64_t stride, int64_t apart, float *band);

/// Writes channels [channel, channel + kLanes) of the results of `run` from products at the points, which lie so.
void pointsToResults(const WinogradShape &shape, bool isWide, const float *from, int64_t stride, int64_t apart,
                     const SquareRun &run, int64_t channel, void *out, float *band);

} // namespace tess::runtime::contract::winograd
