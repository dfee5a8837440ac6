//===- Depthwise.h - convolutions of single channels ------------*- C++ -*-===//
//
// Windows of one channel by a weight of that channel. A result is one chain of
// multiply-adds from zero over the places of its window in their order; places
// beyond the edges are zeros. Where several channels of the operand belong to a
// result, as in the gradient for the image, they follow each other at each place.
// Chains of more than kContractLines terms are cut into chunks of so many, which
// are added in float64 in their order.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/DepthwiseInPlace.h"

#include <optional>

namespace tess::runtime::contract {

/// Immutable: any number of threads may run it.
class Depthwise {
public:
  explicit Depthwise(DepthwiseShape shape);

  /// Parts that threads may share.
  int64_t units() const { return inPlace ? inPlace->units() : shape.batch * shape.packs() * boxes.count(); }
  /// Bytes that each thread needs, aligned to 64.
  size_t workspaceBytes() const;
  /// Computes units [begin, end).
  void run(int64_t begin, int64_t end, const void *operand, const void *weight, void *out, void *workspace) const;

private:
  int64_t numSums() const;

  const DepthwiseShape shape;
  const std::optional<DepthwiseInPlace> inPlace; // computes everything, where it takes the shape
  const PaddedBoxes boxes;
  std::vector<int64_t> termAt; // of the copies, by place and operand
};

} // namespace tess::runtime::contract
