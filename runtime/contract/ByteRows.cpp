//===- ByteRows.cpp - rows of floats as int8 ------------------------------===//
#include "runtime/contract/ByteRows.h"

#include "runtime/device/Elements.h"

#include <algorithm>
#include <cfloat>
#include <cstring>

namespace tess::runtime::contract {

namespace {

constexpr float kLargest = 127;
/// The largest float32 below 1/2: added away from 0, it takes halves and nothing less over the next integer.
constexpr float kBelowHalf = 0x1.fffffep-2f;
constexpr int64_t kWidth = kLanes, kPerWord = 4;
/// Numbers of the largest group.
constexpr int64_t kMostNumbers = kContractLines * 8;

using Floats = float __attribute__((vector_size(64), aligned(4)));
using Integers = int32_t __attribute__((vector_size(64), aligned(4)));
using Signed = int8_t __attribute__((vector_size(16), aligned(1)));

/// The first `count` numbers, kLanes at most, and zeros.
template <typename T> Floats vectorOf(const T *from, int64_t count) {
  float numbers[kLanes] = {};
  if (count >= kWidth) // in one piece
    std::transform(from, from + kWidth, numbers, [](T x) { return widen(x); });
  else
    std::transform(from, from + count, numbers, [](T x) { return widen(x); });
  Floats vector;
  std::memcpy(&vector, numbers, sizeof vector);
  return vector;
}

/// The scale of a row.
template <typename T> float scaleOf(const T *row, int64_t depth) {
  Floats most = {};
  for (int64_t k = 0; k < depth; k += kWidth) {
    const Floats size = (Floats)((Integers)vectorOf(row + k, depth - k) & INT32_MAX);
    most = size > most ? size : most; // not where it is NaN
  }
  float largest = 0;
  for (int64_t lane = 0; lane < kWidth; ++lane)
    largest = std::max(largest, most[lane]);
  const float scale = largest / kLargest;
  return scale < FLT_MIN ? 1.0f : scale;
}

/// Numbers as integers; zeros behind them up to a whole vector.
template <typename T> void quantize(const T *from, int64_t count, float scale, int8_t *to) {
  for (int64_t k = 0; k < count; k += kWidth) {
    const Floats scaled = vectorOf(from + k, count - k) / scale;
    const Floats half = (Floats)((Integers)(Floats{} + kBelowHalf) | ((Integers)scaled & INT32_MIN));
    Floats number = __builtin_elementwise_trunc(scaled + half);
    number = number == number ? number : Floats{};
    const Signed bytes = __builtin_convertvector(__builtin_convertvector(number, Integers), Signed);
    std::memcpy(to + k, &bytes, sizeof bytes);
  }
}

/// Words of eight integers: those with even numbers, then the others.
void splitWords(const int8_t *from, int64_t count, char *to) {
  for (int64_t k = 0; k < count; k += 2 * kPerWord)
    for (int64_t i = 0; i < kPerWord; ++i) {
      to[k + i] = char(from[k + 2 * i]);
      to[k + kPerWord + i] = char(from[k + 2 * i + 1]);
    }
}

int32_t sumOf(const int8_t *numbers, int64_t count) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += numbers[i];
  return sum;
}

} // namespace

template <typename T> float ByteRowForm::writeRow(const T *row, int64_t depth, char *to) const {
  const float scale = scaleOf(row, depth);
  const int32_t larger = weights.isNibbles ? 8 : 128;
  for (int64_t line = 0; line < weights.numLines; line += weights.groupLines) {
    int8_t numbers[kMostNumbers];
    const int64_t begin = line * weights.perColumn();
    const int64_t lines = std::min(weights.groupLines, weights.numLines - line), count = lines * weights.perColumn();
    const int64_t here = std::min(depth - begin, count); // above 0
    quantize(row + begin, here, scale, numbers);
    std::fill(numbers + here, numbers + std::max(count, here), int8_t(0));
    char *group = to + bytesBefore(line);
    if (weights.isNibbles)
      splitWords(numbers, count, group);
    else
      std::memcpy(group, numbers, size_t(count));
    const int32_t first = -larger * sumOf(numbers, count);
    std::memcpy(group + count, &first, sizeof first);
  }
  return scale;
}

template float ByteRowForm::writeRow(const float *, int64_t, char *) const;
template float ByteRowForm::writeRow(const BF16 *, int64_t, char *) const;
template float ByteRowForm::writeRow(const F16 *, int64_t, char *) const;

} // namespace tess::runtime::contract
