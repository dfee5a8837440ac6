//===- ConvShape.h - sizes of windows over images ---------------*- C++ -*-===//
#pragma once

#include "runtime/contract/Windows.h"
#include "runtime/device/KernelTable.h"

namespace tess::runtime::cpu {

using SpatialAxis = contract::WindowAxis;

/// A convolution of (N, C, D, H, W) or of fewer axes, whose outer ones are then of size 1. Channels are per group.
struct ConvShape {
  static constexpr unsigned kMostAxes = 3;
  int64_t batch, groups, in, out;
  unsigned numAxes;
  std::array<SpatialAxis, kMostAxes> axes;

  /// The axes that the operator has.
  llvm::ArrayRef<SpatialAxis> spatial() const { return llvm::ArrayRef(axes).take_back(numAxes); }
  /// Elements of a channel of an image, of one of a result, and of a window.
  int64_t plane() const { return axes[0].size * axes[1].size * axes[2].size; }
  int64_t resultPlane() const { return axes[0].results * axes[1].results * axes[2].results; }
  int64_t window() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
  /// Multiplications of the convolution.
  int64_t products() const { return batch * groups * out * resultPlane() * in * window(); }
};

// The forward convolution of a call, of which each operator computes another operand.
ConvShape forwardShape(const PrepareRequest &request);        // (image, weight) -> result
ConvShape transposedShape(const PrepareRequest &request);     // (result, weight) -> image
ConvShape backwardDataShape(const PrepareRequest &request);   // (weight, result, like) -> image
ConvShape backwardWeightShape(const PrepareRequest &request); // (image, result, like) -> weight

/// A pooling of (N, C, D, H, W), or of (N, C, H, W), whose depth is then 1.
struct PoolShape {
  int64_t batch, channels;
  unsigned numAxes;
  SpatialAxis depth, rows, columns;

  /// The axes that the operator has.
  llvm::SmallVector<SpatialAxis, 3> spatial() const;
  /// Elements of a channel of an image, and of one of a result.
  int64_t imageSize() const { return depth.size * rows.size * columns.size; }
  int64_t pooledSize() const { return depth.results * rows.results * columns.results; }
  /// Elements in its windows; an element counts in each window that has it.
  int64_t windowElements() const {
    return batch * channels * pooledSize() * depth.kernel * rows.kernel * columns.kernel;
  }
};

/// The shape of a pooling with operand `x` and `result`.
PoolShape poolShape(const OpDef &op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> result);

} // namespace tess::runtime::cpu
