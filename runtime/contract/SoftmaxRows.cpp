//===- SoftmaxRows.cpp - exponentials of rows of scores -------------------===//
//
// e^x = 2^n e^r as in compiler/lanes/VectorMathExp.cpp: r is reduced after Cody
// and Waite, float32 has the polynomial of Cephes' expf, float64 Taylor's series
// to r^13. Results below the normal numbers are zeros.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/SoftmaxRows.h"

#include "runtime/schema/KernelAbi.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tess::runtime::contract {

namespace {

constexpr int64_t kWidth = kLanes;
template <typename Sum> constexpr Sum kInfinity = std::numeric_limits<Sum>::infinity();

#define TESS_INLINE __attribute__((always_inline)) inline

template <typename Sum> struct Exp;
template <> struct Exp<float> {
  using Bits = uint32_t;
  static constexpr float kLeast = -88, kMagic = 0x1.8p23f + 127, kLn2High = 0x1.63p-1f, kLn2Low = -0x1.bd0106p-13f;
  static constexpr unsigned kMantissa = 23;
  static constexpr float kSeries[] = {0x1.a0d2cep-13f, 0x1.6e879cp-10f, 0x1.11121p-7f,
                                      0x1.555382p-5f,  0x1.555554p-3f,  0x1p-1f};
};
template <> struct Exp<double> {
  using Bits = uint64_t;
  static constexpr double kLeast = -709, kMagic = 0x1.8p52 + 1023, kLn2High = 0x1.62e42fefa39efp-1,
                          kLn2Low = 0x1.abc9e3b39803fp-56;
  static constexpr unsigned kMantissa = 52;
  static constexpr double kSeries[] = {0x1.6124613a86d09p-33, 0x1.1eed8eff8d898p-29, 0x1.ae64567f544e4p-26,
                                       0x1.27e4fb7789f5cp-22, 0x1.71de3a556c734p-19, 0x1.a01a01a01a01ap-16,
                                       0x1.a01a01a01a01ap-13, 0x1.6c16c16c16c17p-10, 0x1.1111111111111p-7,
                                       0x1.5555555555555p-5,  0x1.5555555555555p-3,  0x1p-1};
};

template <typename Sum> using Vector = Sum __attribute__((ext_vector_type(kWidth)));
template <typename Sum> using VectorBits = typename Exp<Sum>::Bits __attribute__((ext_vector_type(kWidth)));

template <typename Sum> TESS_INLINE void load(Vector<Sum> &to, const Sum *from) { std::memcpy(&to, from, sizeof to); }
template <typename Sum> TESS_INLINE void store(const Vector<Sum> &from, Sum *to) {
  std::memcpy(to, &from, sizeof from);
}

/// Replaces x, which is at most 0 or NaN, by e^x.
template <typename Sum> TESS_INLINE void expOf(Vector<Sum> &x) {
  using E = Exp<Sum>;
  using V = Vector<Sum>;
  const V least = V{} + E::kLeast;
  x = x < least ? least : x;
  const V shifted = __builtin_elementwise_fma(x, V{} + Sum(M_LOG2E), V{} + E::kMagic), n = shifted - E::kMagic;
  V r = __builtin_elementwise_fma(n, V{} - E::kLn2High, x);
  r = __builtin_elementwise_fma(n, V{} - E::kLn2Low, r);
  V q = V{} + E::kSeries[0];
  for (unsigned i = 1; i < sizeof E::kSeries / sizeof(Sum); ++i)
    q = __builtin_elementwise_fma(q, r, V{} + E::kSeries[i]);
  q = __builtin_elementwise_fma(q, r * r, r) + Sum(1);
  VectorBits<Sum> bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits <<= E::kMantissa;
  V power;
  std::memcpy(&power, &bits, sizeof power);
  x = q * power;
}

/// e^x of one number.
template <typename Sum> TESS_INLINE Sum expOne(Sum x) {
  Vector<Sum> all = Vector<Sum>{} + x;
  expOf<Sum>(all);
  return all[0];
}

/// Sets elements from `count` to a whole number of vectors.
template <typename Sum> TESS_INLINE void pad(Sum *row, int64_t count, Sum value) {
  for (; count % kWidth; ++count)
    row[count] = value;
}

template <typename Sum> TESS_INLINE Sum topOf(const Sum *row, int64_t count, Sum top) {
  Vector<Sum> tops = Vector<Sum>{} + top, next;
  for (int64_t i = 0; i < count; i += kWidth) {
    load<Sum>(next, row + i);
    tops = next > tops ? next : tops;
  }
  const auto of8 = tops.hi > tops.lo ? tops.hi : tops.lo;
  const auto of4 = of8.hi > of8.lo ? of8.hi : of8.lo;
  const auto of2 = of4.hi > of4.lo ? of4.hi : of4.lo;
  return of2.y > of2.x ? of2.y : of2.x;
}

/// Replaces scores by exponentials of their distance from `top`, and gives the sum of these.
template <typename Sum> TESS_INLINE Sum expOfRow(Sum *row, int64_t count, Sum top) {
  Vector<Sum> sums = {}, next;
  for (int64_t i = 0; i < count; i += kWidth) {
    load<Sum>(next, row + i);
    next -= top;
    expOf<Sum>(next);
    sums += next;
    store<Sum>(next, row + i);
  }
  const auto of8 = sums.lo + sums.hi;
  const auto of4 = of8.lo + of8.hi;
  const auto of2 = of4.lo + of4.hi;
  return of2.x + of2.y;
}

template <typename Sum> TESS_INLINE Sum addRow(Sum *scores, int64_t count, RowState<Sum> &state) {
  pad(scores, count, -kInfinity<Sum>);
  const Sum top = topOf(scores, count, state.top), base = top == -kInfinity<Sum> ? Sum(0) : top;
  const Sum factor = expOne<Sum>(state.top - base);
  const Sum sum = expOfRow(scores, count, base);
  state = {top, state.total * factor + sum};
  return factor;
}

template <typename Sum> TESS_INLINE void weighRow(Sum *scores, int64_t count, Sum logsumexp) {
  pad(scores, count, -kInfinity<Sum>);
  (void)expOfRow(scores, count, logsumexp == -kInfinity<Sum> ? Sum(0) : logsumexp);
}

template <typename Sum> TESS_INLINE void slopeRow(Sum *gradients, const Sum *weights, int64_t count, Sum delta) {
  Vector<Sum> next, weight;
  for (int64_t i = 0; i < count; i += kWidth) {
    load<Sum>(next, gradients + i);
    load<Sum>(weight, weights + i);
    next = weight * (next - delta);
    store<Sum>(next, gradients + i);
  }
}

template <typename Sum> TESS_INLINE void scaleRow(Sum *row, int64_t count, Sum factor) {
  Vector<Sum> next;
  for (int64_t i = 0; i < count; i += kWidth) {
    load<Sum>(next, row + i);
    next *= factor;
    store<Sum>(next, row + i);
  }
}

/// Functions of SoftmaxRows for one length of vectors.
template <typename Sum> struct Plain {
  static Sum add(Sum *scores, int64_t count, RowState<Sum> &state) { return addRow(scores, count, state); }
  static void weigh(Sum *scores, int64_t count, Sum logsumexp) { weighRow(scores, count, logsumexp); }
  static void slope(Sum *gradients, const Sum *weights, int64_t count, Sum delta) {
    slopeRow(gradients, weights, count, delta);
  }
  static void scale(Sum *row, int64_t count, Sum factor) { scaleRow(row, count, factor); }
};
template <typename Sum> struct Wide {
  __attribute__((target("avx512f"))) static Sum add(Sum *scores, int64_t count, RowState<Sum> &state) {
    return addRow(scores, count, state);
  }
  __attribute__((target("avx512f"))) static void weigh(Sum *scores, int64_t count, Sum logsumexp) {
    weighRow(scores, count, logsumexp);
  }
  __attribute__((target("avx512f"))) static void slope(Sum *gradients, const Sum *weights, int64_t count, Sum delta) {
    slopeRow(gradients, weights, count, delta);
  }
  __attribute__((target("avx512f"))) static void scale(Sum *row, int64_t count, Sum factor) {
    scaleRow(row, count, factor);
  }
};

#undef TESS_INLINE

} // namespace

template <typename Sum> const SoftmaxRows<Sum> &SoftmaxRows<Sum>::of(bool isWide) {
  static const SoftmaxRows plain{Plain<Sum>::add, Plain<Sum>::weigh, Plain<Sum>::slope, Plain<Sum>::scale};
  static const SoftmaxRows wide{Wide<Sum>::add, Wide<Sum>::weigh, Wide<Sum>::slope, Wide<Sum>::scale};
  return isWide ? wide : plain;
}

template struct SoftmaxRows<float>;
template struct SoftmaxRows<double>;

double logSumExp(double top, double total) {
  if (total == 0)
    return -kInfinity<double>;
  if (!(total < kInfinity<double>))
    return total;
  int exponent;
  double mantissa = std::frexp(total, &exponent);
  if (mantissa < M_SQRT1_2) {
    mantissa *= 2;
    --exponent;
  }
  // The series 2 (s + s^3 / 3 + ...) of log((1 + s) / (1 - s)), whose next term is below 2^-60.
  constexpr int kLastPower = 23;
  const double s = (mantissa - 1) / (mantissa + 1), z = s * s;
  double series = 1.0 / kLastPower;
  for (int power = kLastPower - 2; power > 0; power -= 2)
    series = std::fma(series, z, 1.0 / power);
  return top + std::fma(double(exponent), M_LN2, 2 * s * series);
}

} // namespace tess::runtime::contract
