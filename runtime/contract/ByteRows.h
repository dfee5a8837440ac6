//===- ByteRows.h - rows of floats as int8 ----------------------*- C++ -*-===//
//
// A row of activations is quantized by itself: its scale is its largest absolute
// value over 127, or 1 where that quotient is below the normal numbers, and its
// integers are quotients by the scale, rounded with halves away from zero. NaN is
// 0. Kernels read groups of integers as words: four of them, or, for weights of 4
// bits, those with even and those with odd numbers of eight. Behind each group is
// an int32, with which its sums begin: weights are larger by 128 or 8 there, and
// it takes as much from each product (QuantizedPanels.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/QuantizedPanels.h"

namespace tess::runtime::contract {

/// Where such rows lie, for weights of a form whose rows are int8.
class ByteRowForm {
public:
  explicit ByteRowForm(const QuantizedForm &weights) : weights(weights) {}

  /// Bytes of a group's sum, and those before a line, which begins a group.
  static constexpr int64_t kSumBytes = sizeof(int32_t);
  int64_t bytesBefore(int64_t line) const {
    return line * weights.perColumn() + llvm::divideCeil(line, weights.groupLines) * kSumBytes;
  }
  /// Bytes of a row.
  int64_t rowBytes() const { return bytesBefore(weights.numLines); }

  /// Writes a row of `depth` float32, bfloat16 or float16 numbers, and returns its scale.
  template <typename T> float writeRow(const T *row, int64_t depth, char *to) const;

private:
  const QuantizedForm weights;
};

} // namespace tess::runtime::contract
