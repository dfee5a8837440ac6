//===- ConvResidues.h - windows that reach elements -------------*- C++ -*-===//
//
// The gradient of a convolution for the image is a convolution of the result's
// gradient for each residue of elements by the strides.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cpu/ConvShape.h"

#include <vector>

namespace tess::runtime::cpu {

/// Elements of an axis of the image whose number has one residue by the stride: the windows that reach them, and their
/// place there.
struct Residue {
  int64_t first = 0;           // element
  SpatialAxis axis;            // over windows
  int64_t place = 0, step = 0; // the first place of a window, and the way to the next one
};
/// A residue of each axis.
using Residues = std::array<Residue, ConvShape::kMostAxes>;

/// Residues of the elements that windows reach.
std::vector<Residues> residuesOf(const ConvShape &shape);
/// Bytes of an image to clear before a kernel writes what windows reach of it: none where they reach all.
size_t bytesToClear(const ConvShape &shape, const TensorMeta &image);
/// Numbers of the weight's places in the order of those windows.
std::vector<int64_t> placesOf(const ConvShape &shape, const Residues &residues);

} // namespace tess::runtime::cpu
