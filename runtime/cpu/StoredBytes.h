//===- StoredBytes.h - operands of 8 bits -----------------------*- C++ -*-===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "runtime/threads/ParallelFor.h"

namespace tess::runtime::cpu {

/// Whether what is stored is uint8, else it is int8.
constexpr bool isUnsignedByte(DType dtype) { return storageOf(dtype) == DType::UInt8; }

/// Copies uint8 numbers as int8 ones that are smaller by 128.
inline void copyAsSigned(const uint8_t *from, int64_t count, int8_t *to, unsigned threads) {
  constexpr int64_t kGrain = 4096;
  parallelFor(threads, count, kGrain, [&](int64_t begin, int64_t end, unsigned) {
    for (int64_t i = begin; i < end; ++i)
      to[i] = int8_t(from[i] ^ 0x80);
  });
}

} // namespace tess::runtime::cpu
