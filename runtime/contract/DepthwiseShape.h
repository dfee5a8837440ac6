//===- DepthwiseShape.h - convolutions of single channels -------*- C++ -*-===//
#pragma once

#include "runtime/contract/PaddedBoxes.h"

namespace tess::runtime::contract {

/// Convolutions of groups of `operands` channels to `results` channels, of which one is 1.
struct DepthwiseShape {
  DType dtype;
  int64_t batch, groups, operands, results;
  WindowAxes axes = {};
  ImageForm operand = {}, result = {};
  /// Window i of an axis gives element first + i * step of the result.
  Numbers step = {1, 1, 1}, first = {0, 0, 0};
  /// The weight has `window` places for each operand or result of a group; windows have those of these numbers.
  int64_t window = 0;
  std::vector<int64_t> places = {};

  /// Channels of the result that vectors have side by side: kLanes, as images in blocks must have, or 1.
  int64_t lanes = 1;

  /// Channels of the result.
  int64_t channels() const { return groups * results; }
  /// Channels of the result that read one copy; there must be whole packs.
  int64_t pack() const { return lanes == 1 ? results : kLanes; }
  int64_t packs() const { return channels() / pack(); }
};

} // namespace tess::runtime::contract
