//===- Transpose.h - squares of 32-bit numbers ------------------*- C++ -*-===//
#pragma once

#include <cstdint>

namespace tess::runtime::contract {

/// Eight numbers of 32 bits.
using Words = uint32_t __attribute__((vector_size(32), aligned(4)));

/// The square whose lines these are, by columns.
inline void transpose(Words (&w)[8]) {
  Words a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = __builtin_shufflevector(w[i], w[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[i + 1] = __builtin_shufflevector(w[i], w[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = i; j < i + 2; ++j) {
      b[j] = __builtin_shufflevector(a[j], a[j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[j + 2] = __builtin_shufflevector(a[j], a[j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int j = 0; j < 4; ++j) {
    w[j] = __builtin_shufflevector(b[j], b[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    w[j + 4] = __builtin_shufflevector(b[j], b[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// Copies `lines` lines of kLanes words from `count` columns, each of which has its words behind each other, `apart`
/// bytes from column to column; zeros for columns beyond these. `fetchesNext`: as many columns behind them come next,
/// from memory.
void transposeColumns(const char *from, int64_t apart, int64_t count, int64_t lines, uint32_t *to,
                      bool fetchesNext = false);

} // namespace tess::runtime::contract
