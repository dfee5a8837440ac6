//===- Transpose.cpp - squares of 32-bit numbers ------------------------------===//
#include "runtime/contract/Transpose.h"

#include "runtime/contract/WideLanes.h"

#include <algorithm>
#include <cstring>

namespace tess::runtime::contract {

static constexpr int64_t kWidth = kLanes;

WIDE_BEGIN

/// The square of kWidth columns by as many lines, on processors that have such vectors.
template <bool kFetches> static void transposeWide(const char *from, int64_t apart, uint32_t *to) {
  wide::Lanes square[kLanes];
  for (int64_t i = 0; i < kWidth; ++i) {
    std::memcpy(&square[i], from + i * apart, sizeof square[i]);
    if constexpr (kFetches)
      __builtin_prefetch(from + (i + kWidth) * apart);
  }
  wide::transpose(square);
  std::memcpy(to, square, sizeof square);
}

WIDE_END

void transposeColumns(const char *from, int64_t apart, int64_t count, int64_t lines, uint32_t *to, bool fetchesNext) {
  static const bool hasWide = __builtin_cpu_supports("avx512f");
  int64_t line = 0;
  for (; hasWide && count == kWidth && line + kWidth <= lines; line += kWidth)
    (fetchesNext ? transposeWide<true> : transposeWide<false>)(from + line * 4, apart, to + line * kWidth);
  for (; line + 8 <= lines; line += 8)
    for (int64_t first = 0; first < kWidth; first += 8) {
      Words square[8];
      for (int64_t i = 0; i < 8; ++i)
        if (first + i < count)
          std::memcpy(&square[i], from + (first + i) * apart + line * 4, sizeof(Words));
        else
          square[i] = Words{};
      transpose(square);
      for (int64_t i = 0; i < 8; ++i)
        std::memcpy(to + (line + i) * kWidth + first, &square[i], sizeof(Words));
    }
  for (; line < lines; ++line) {
    for (int64_t column = 0; column < count; ++column)
      std::memcpy(to + line * kWidth + column, from + column * apart + line * 4, 4);
    std::fill(to + line * kWidth + count, to + (line + 1) * kWidth, 0);
  }
}

} // namespace tess::runtime::contract
