//===- ByteResults.h - what becomes of exact sums ---------------*- C++ -*-===//
//
// Steps 2 to 6 of docs/reference/quantized.md on the sums of a tile while they are
// in the first level of the caches, with the roundings of the operators that they
// are there: each step is one operation of float32.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/ByteWindows.h"

namespace tess::runtime::contract {

enum class ByteActivation : uint8_t { Identity, Relu, Hswish };

/// Integers and what they stand for: (integer - zero) * scale.
struct ByteScale {
  DType dtype; // Int8 or UInt8
  float scale;
  int32_t zero;
};

/// Images of bytes, [batch, channels, plane], or with their channels side by side.
struct ByteImages {
  int64_t channels, plane;
  bool isChannelsLast;
};

/// For each channel what is added to its sums and by what they are multiplied; kLanes more than there are channels,
/// since whole vectors are read.
struct ByteChannels {
  int32_t *offsets;
  float *scales;
};

/// Fills in the integers of biases (null: none) within 2^30, less `zero` times the sums of weights, which may be null
/// where that is 0. `scales` are there.
void setOffsets(int64_t channels, const float *bias, int32_t zero, const int32_t *weightSums, const ByteChannels &to);

/// Results as bytes.
struct QuantizedResults {
  ByteChannels of;
  ByteActivation activation;
  ByteScale result;
  int32_t lowest, highest; // integers that are stored
  ByteImages images;
  void *out;
  // Added before the activation; null: none.
  const void *residual;
  ByteScale residualScale;
  ByteImages residualImages;

  void write(const ByteTile &tile) const;
};

/// Results as they are, plus the offset of their channel, [batch, channels, plane].
struct IntegerResults {
  const int32_t *offsets;
  int64_t channels, plane;
  int32_t *out;

  void write(const ByteTile &tile) const;
};

} // namespace tess::runtime::contract
