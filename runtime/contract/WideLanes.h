//===- WideLanes.h - vectors of 512 bits ------------------------*- C++ -*-===//
//
// Vectors of kLanes numbers of float32. The functions here are for functions that
// are compiled for processors with such vectors, between WIDE_BEGIN and WIDE_END;
// hasWideVectors() (Kernels.h) tells whether these may run.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/device/Elements.h"
#include "runtime/schema/KernelAbi.h"

#include <immintrin.h>

#define WIDE_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define WIDE_BEGIN                                                                                                     \
  WIDE_PRAGMA(clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function))
#define WIDE_END WIDE_PRAGMA(clang attribute pop)

namespace tess::runtime::contract::wide {

/// Calls fn with an element of the dtype, one of those that Lanes hold: float32, float16 or bfloat16.
template <typename Fn> void withElement(DType dtype, Fn &&fn) {
  dtype == DType::BFloat16 ? fn(BF16()) : dtype == DType::Float16 ? fn(F16()) : fn(float());
}

} // namespace tess::runtime::contract::wide

WIDE_BEGIN

namespace tess::runtime::contract::wide {

using Lanes = float __attribute__((ext_vector_type(kLanes)));
using Words = int32_t __attribute__((ext_vector_type(kLanes)));
using Mask = __mmask16;

constexpr Mask kAll = 0xffff;

/// The first `count` lanes.
constexpr Mask firstOf(int64_t count) { return Mask((1u << count) - 1); }

/// Reads the elements of `mask` as float32; zeros for others, which may lie outside of any memory.
template <typename T> [[gnu::always_inline]] inline Lanes load(const T *from, Mask mask) {
  if constexpr (std::is_same_v<T, float>) {
    return __builtin_bit_cast(Lanes, _mm512_maskz_loadu_ps(mask, from));
  } else {
    const __m256i halves = _mm256_maskz_loadu_epi16(mask, from);
    if constexpr (std::is_same_v<T, F16>)
      return __builtin_bit_cast(Lanes, _mm512_cvtph_ps(halves));
    else
      return __builtin_bit_cast(Lanes, _mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
  }
}

/// Numbers of bfloat16 in the lower halves, rounded to nearest even.
[[gnu::always_inline]] inline Words roundedToBFloat16(Lanes lanes) {
  using Bits = uint32_t __attribute__((ext_vector_type(kLanes)));
  const Bits bits = __builtin_bit_cast(Bits, lanes), even = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return __builtin_bit_cast(Words, lanes == lanes ? even : bits >> 16 | 0x40);
}

/// Writes the lanes of `mask`, rounded to T.
template <typename T> [[gnu::always_inline]] inline void store(Lanes lanes, T *to, Mask mask) {
  if constexpr (std::is_same_v<T, float>)
    _mm512_mask_storeu_ps(to, mask, __builtin_bit_cast(__m512, lanes));
  else if constexpr (std::is_same_v<T, F16>)
    _mm256_mask_storeu_epi16(
        to, mask, _mm512_cvtps_ph(__builtin_bit_cast(__m512, lanes), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  else
    _mm256_mask_storeu_epi16(to, mask, _mm512_cvtepi32_epi16(__builtin_bit_cast(__m512i, roundedToBFloat16(lanes))));
}

/// Picks lane numbers[l] of `a` and `b`, whose lanes follow each other.
[[gnu::always_inline]] inline Lanes picked(Lanes a, Words numbers, Lanes b) {
  return __builtin_bit_cast(Lanes,
                            _mm512_permutex2var_ps(__builtin_bit_cast(__m512, a), __builtin_bit_cast(__m512i, numbers),
                                                   __builtin_bit_cast(__m512, b)));
}

/// Picks so for the lanes of `mask`; others are zeros.
[[gnu::always_inline]] inline Lanes picked(Lanes a, Words numbers, Lanes b, Mask mask) {
  return __builtin_bit_cast(Lanes, _mm512_maskz_permutex2var_ps(mask, __builtin_bit_cast(__m512, a),
                                                                __builtin_bit_cast(__m512i, numbers),
                                                                __builtin_bit_cast(__m512, b)));
}

/// Adds the lanes of each half by halves, to its first one.
[[gnu::always_inline]] inline Lanes addedHalves(Lanes a) {
  a += __builtin_shufflevector(a, a, 4, 5, 6, 7, 4, 5, 6, 7, 12, 13, 14, 15, 12, 13, 14, 15);
  a += __builtin_shufflevector(a, a, 2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15);
  return a + __builtin_shufflevector(a, a, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15);
}

/// The lower or upper half of `a`, each lane twice.
[[gnu::always_inline]] inline Lanes doubled(Lanes a, bool isUpper) {
  return isUpper ? __builtin_shufflevector(a, a, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15)
                 : __builtin_shufflevector(a, a, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
}

/// The lower half of `a`, and the upper one of `b`.
[[gnu::always_inline]] inline Lanes joined(Lanes a, Lanes b) {
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31);
}

/// Lanes of four words: even or odd ones of both vectors.
template <bool kIsOdd> [[gnu::always_inline]] inline Lanes quarters(Lanes a, Lanes b) {
  if constexpr (kIsOdd)
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  else
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
}

/// The square whose lines these are, by columns.
[[gnu::always_inline]] inline void transpose(Lanes (&rows)[kLanes]) {
  constexpr int kSide = kLanes, kGroup = 4;
  Lanes pairs[kSide];
  for (int i = 0; i < kSide; i += 2) {
    const Lanes a = rows[i], b = rows[i + 1];
    pairs[i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
    pairs[i + 1] = __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  }
  Lanes fours[kSide];
  for (int i = 0; i < kSide; i += kGroup)
    for (int j = 0; j < 2; ++j) {
      const Lanes a = pairs[i + j], b = pairs[i + j + 2];
      fours[i + 2 * j] = __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      fours[i + 2 * j + 1] = __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    }
  // Lane l of fours[4 g + j] has column 4 l + j of rows 4 g and the three behind it.
  for (int j = 0; j < kGroup; ++j) {
    const Lanes even1 = quarters<false>(fours[j], fours[kGroup + j]),
                odd1 = quarters<true>(fours[j], fours[kGroup + j]);
    const Lanes even2 = quarters<false>(fours[2 * kGroup + j], fours[3 * kGroup + j]),
                odd2 = quarters<true>(fours[2 * kGroup + j], fours[3 * kGroup + j]);
    rows[j] = quarters<false>(even1, even2);
    rows[kGroup + j] = quarters<false>(odd1, odd2);
    rows[2 * kGroup + j] = quarters<true>(even1, even2);
    rows[3 * kGroup + j] = quarters<true>(odd1, odd2);
  }
}

} // namespace tess::runtime::contract::wide

WIDE_END
