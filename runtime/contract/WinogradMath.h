//===- WinogradMath.h - transforms of F(4, 3) -------------------*- C++ -*-===//
//
// The matrices for the points 0, +-a, +-b and infinity, whose rows at +-p share
// their work.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace tess::runtime::contract::winograd {

constexpr int kResults = 4, kPlaces = 3, kPoints = kResults + kPlaces - 1, kSquare = kPoints * kPoints;
constexpr float kA = 0.75f, kB = 1.5f;
constexpr float kA2 = kA * kA, kB2 = kB * kB;

// Functions take vectors by reference, as those for processors with wider ones call them, too.

/// Transforms six elements of an image to the points.
template <typename V> [[gnu::always_inline]] inline void toPoints(const V (&d)[kPoints], V (&out)[kPoints]) {
  const V even1 = __builtin_elementwise_fma(V{} - kB2, d[2], d[4]),
          odd1 = __builtin_elementwise_fma(V{} - kB2, d[1], d[3]);
  const V even2 = __builtin_elementwise_fma(V{} - kA2, d[2], d[4]),
          odd2 = __builtin_elementwise_fma(V{} - kA2, d[1], d[3]);
  const V ends0 = __builtin_elementwise_fma(V{} - (kA2 + kB2), d[2], d[4]),
          ends1 = __builtin_elementwise_fma(V{} - (kA2 + kB2), d[3], d[5]);
  out[0] = __builtin_elementwise_fma(V{} + kA2 * kB2, d[0], ends0);
  out[1] = __builtin_elementwise_fma(V{} + kA, odd1, even1);
  out[2] = __builtin_elementwise_fma(V{} - kA, odd1, even1);
  out[3] = __builtin_elementwise_fma(V{} + kB, odd2, even2);
  out[4] = __builtin_elementwise_fma(V{} - kB, odd2, even2);
  out[5] = __builtin_elementwise_fma(V{} + kA2 * kB2, d[1], ends1);
}

/// Transforms products at the points to four results.
template <typename V> [[gnu::always_inline]] inline void fromPoints(const V (&d)[kPoints], V (&out)[kResults]) {
  const V sum1 = d[1] + d[2], difference1 = d[1] - d[2], sum2 = d[3] + d[4], difference2 = d[3] - d[4];
  const V last = __builtin_elementwise_fma(V{} + kA2 * kA, difference1, d[5]);
  out[0] = d[0] + sum1 + sum2;
  out[1] = __builtin_elementwise_fma(V{} + kB, difference2, kA * difference1);
  out[2] = __builtin_elementwise_fma(V{} + kB2, sum2, kA2 * sum1);
  out[3] = __builtin_elementwise_fma(V{} + kB2 * kB, difference2, last);
}

/// Transforms the columns of a square by `transform`, from kFrom numbers to kTo, and then the rows of what that gives.
/// load(row, column, to) reads an element; store(row, numbers) takes a row of results.
template <int kFrom, int kTo, typename V, typename Load, typename Transform, typename Store>
[[gnu::always_inline]] inline void transformTwice(Load load, Transform transform, Store store) {
  V middle[kTo][kFrom];
#pragma unroll
  for (int x = 0; x < kFrom; ++x) {
    V column[kFrom], out[kTo];
#pragma unroll
    for (int y = 0; y < kFrom; ++y)
      load(y, x, column[y]);
    transform(column, out);
#pragma unroll
    for (int y = 0; y < kTo; ++y)
      middle[y][x] = out[y];
  }
#pragma unroll
  for (int y = 0; y < kTo; ++y) {
    V out[kTo];
    transform(middle[y], out);
    store(y, out);
  }
}

/// The factor of place `place` of a weight at a finite point.
constexpr double weightFactor(int point, int place) {
  const double a2 = kA2, b2 = kB2, points[] = {0, kA, -kA, kB, -kB};
  const double scales[] = {a2 * b2, 2 * a2 * (a2 - b2), 2 * a2 * (a2 - b2), 2 * b2 * (b2 - a2), 2 * b2 * (b2 - a2)};
  const double at = points[point];
  return (place == 0 ? 1 : place == 1 ? at : at * at) / scales[point];
}

} // namespace tess::runtime::contract::winograd
