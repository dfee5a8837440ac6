//===- DepthwiseInPlace.h - single channels, images in place ----*- C++ -*-===//
//
// Convolutions of single channels (Depthwise.h, with its order of sums) that read
// their images in place, by vectors of 512 bits: of neighbours along a row of a
// row-major image, or of the channels of a block. Masks stand for what lies beyond
// the edges of rows, and a row of zeros for rows beyond those.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/DepthwiseShape.h"

#include <memory>

namespace tess::runtime::contract {

/// Immutable: any number of threads may run it.
class DepthwiseInPlace {
public:
  /// Whether it computes convolutions of this shape, and this machine has such vectors.
  static bool takes(const DepthwiseShape &shape);

  explicit DepthwiseInPlace(const DepthwiseShape &shape);

  /// Parts that threads may share.
  int64_t units() const;
  /// Bytes that each thread needs, aligned to 64.
  size_t workspaceBytes() const;
  /// Computes units [begin, end).
  void run(int64_t begin, int64_t end, const void *operand, const void *weight, void *out, void *workspace) const;

private:
  struct Plan;
  template <typename T> class Rows;

  std::shared_ptr<const Plan> plan;
};

} // namespace tess::runtime::contract
