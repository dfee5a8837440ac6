//===- Copies.h - runs of elements as words ---------------------*- C++ -*-===//
#pragma once

#include "runtime/device/Elements.h"

#include <algorithm>
#include <cstring>

namespace tess::runtime::contract {

/// Elements that a vector of a copy has.
constexpr int64_t kCopyVector = 8;

/// An element as a copy keeps it.
template <typename W, typename T> W worded(T x) {
  if constexpr (std::is_same_v<W, T>)
    return x;
  else
    return W(widen(x));
}

/// How elements of T are kept in words of lines: two of bfloat16 in one, halves widened.
template <typename T> struct WordOf {
  using type = std::conditional_t<std::is_same_v<T, F16>, float, T>;
  static constexpr int64_t kPerWord = std::is_same_v<T, BF16> ? 2 : 1;
};

/// Writes kCopyVector words, of an even and an odd element each.
inline void copyPairs(const BF16 *even, const BF16 *odd, uint32_t *to) {
  using Halves = uint16_t __attribute__((vector_size(16), aligned(2)));
  Halves a, b;
  std::memcpy(&a, even, sizeof a);
  std::memcpy(&b, odd, sizeof b);
  const Halves lower = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  const Halves upper = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  std::memcpy(to, &lower, sizeof lower);
  std::memcpy(to + kCopyVector / 2, &upper, sizeof upper);
}

/// Copies Count elements, as words.
template <unsigned Count, typename W, typename T> void copyFixed(const T *from, W *to) {
  if constexpr (std::is_same_v<W, T>) {
    using Bytes = uint8_t __attribute__((vector_size(Count * sizeof(T)), aligned(1))); // an array would be stored twice
    Bytes bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    std::memcpy(to, &bytes, sizeof bytes);
  } else if constexpr (std::is_same_v<T, BF16>) {
    static_assert(std::is_same_v<W, float>);
    using Halves = uint16_t __attribute__((vector_size(Count * sizeof(T)), aligned(2)));
    using Words = uint32_t __attribute__((vector_size(Count * sizeof(W)), aligned(4)));
    Halves halves;
    std::memcpy(&halves, from, sizeof halves);
    const Words words = __builtin_convertvector(halves, Words) << 16;
    std::memcpy(to, &words, sizeof words);
  } else {
    W words[Count];
    for (unsigned i = 0; i < Count; ++i)
      words[i] = worded<W>(from[i]);
    std::memcpy(to, words, sizeof words);
  }
}

/// Copies `count` elements, `step` apart. The last vector of neighbours may overlap the one before.
template <typename W, typename T> void copyStrided(const T *from, int64_t step, int64_t count, W *to) {
  if (step == 1 && count >= kCopyVector) {
    for (int64_t i = 0; i + kCopyVector <= count; i += kCopyVector)
      copyFixed<kCopyVector>(from + i, to + i);
    copyFixed<kCopyVector>(from + count - kCopyVector, to + count - kCopyVector);
    return;
  }
  auto copy = [&](auto distance) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = worded<W>(from[i * distance]);
  };
  if (step == 2)
    copy(std::integral_constant<int64_t, 2>{}); // by vectors
  else
    copy(step);
}

} // namespace tess::runtime::contract
