//===- ByteSquares.h - bytes as vectors -------------------------*- C++ -*-===//
#pragma once

#include "runtime/schema/KernelAbi.h"

#include <bit>
#include <cstring>

namespace tess::runtime::contract {

/// Sixteen bytes.
using Bytes = uint8_t __attribute__((vector_size(16), aligned(1)));
/// Bytes from which on they are read as a vector.
constexpr int64_t kLeastBytes = 8;

/// The first `count` bytes, kLeastBytes at least, and zeros.
inline Bytes loadBytes(const void *from, int64_t count) {
  const auto *bytes = static_cast<const uint8_t *>(from);
  uint64_t halves[2];
  if (count == kLanes) {
    std::memcpy(halves, bytes, sizeof halves);
    return std::bit_cast<Bytes>(halves);
  }
  std::memcpy(&halves[0], bytes, kLeastBytes);
  std::memcpy(&halves[1], bytes + count - kLeastBytes, kLeastBytes);
  halves[1] = count == kLeastBytes ? 0 : halves[1] >> 8 * (kLanes - count);
  return std::bit_cast<Bytes>(halves);
}

/// The square whose lines these are, by columns.
inline void transpose(Bytes (&lines)[kLanes]) {
  constexpr int kHalf = kLanes / 2;
  for (int round = 0; round < 4; ++round) {
    Bytes next[kLanes];
    for (int i = 0; i < kHalf; ++i) {
      const Bytes a = lines[i], b = lines[i + kHalf];
      next[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    std::memcpy(lines, next, sizeof next);
  }
}

/// Copies lines of `count` bytes, `apart` bytes from each other, by columns: byte x of line c goes to to[x * lines +
/// c].
void gatherChannels(const char *from, int64_t apart, int64_t lines, int64_t count, char *to);

} // namespace tess::runtime::contract
