//===- VectorMathExp.cpp - exponentials ----------------------------------===//
//
// e^x = 2^n e^r, where n = round(x / ln 2) and r in [-ln2/2, ln2/2] is reduced
// after Cody and Waite in two steps. float32 uses the polynomial of Cephes'
// expf; float64 Taylor's series to r^13, whose next term is below 2^-57. The
// result is multiplied by 2^n in two factors, so that the one rounding to a
// denormal or to infinity is that of a multiplication. Coefficients without
// another source are minimax polynomials (Sollya's fpminimax).
//
//===----------------------------------------------------------------------===//
#include "compiler/lanes/VectorMath.h"
#include "compiler/lanes/VectorMathConstants.h"

namespace tess::compiler::vmath {

namespace {

// 1.5 * 2^(digits-1): adding it leaves the rounded integer in the low bits.
double roundingMagic(Elem elem) { return elem == Elem::F32 ? 0x1.8p23 : 0x1.8p52; }
unsigned mantissaBits(Elem elem) { return elem == Elem::F32 ? 23 : 52; }
int exponentBias(Elem elem) { return elem == Elem::F32 ? 127 : 1023; }

/// e^x = 2^n (1 + p), where p = e^r - 1; `biased` has n plus twice the exponent bias in its low bits.
struct Parts {
  V p, n, biased;
};

/// e^r - 1 for |r| <= ln2/2.
V expm1Reduced(V r) {
  if (r.elem() == Elem::F32) {
    V q = polynomial(r, kExp32);
    return fma(q, r * r, r);
  }
  V q = polynomial(r, kExp64);
  return fma(q, r * r, r);
}

/// The parts of e^(x + tail): `tail` (may be null) is added after the reduction.
Parts reduce(V x, V tail) {
  bool single = x.elem() == Elem::F32;
  double magic = roundingMagic(x.elem()) + 2 * exponentBias(x.elem());
  V shifted = fma(x, kLog2E, x.c(magic));
  V n = shifted - magic;
  V r = fma(n, single ? -kLn2High32 : -kLn2, x);
  r = fma(n, single ? -kLn2Low32 : -kLn2Low, r);
  if (tail)
    r = r + tail;
  return {expm1Reduced(r), n, toBits(shifted)};
}

/// 2^a and 2^b with a + b = n; both are normal.
std::pair<V, V> scales(const Parts &parts) {
  unsigned shift = mantissaBits(parts.n.elem());
  // The low bits hold n + 2 bias: half of that is one exponent field, the rest the other.
  V half = lshr(parts.biased, 1);
  return {fromBits(shl(half, shift)), fromBits(shl(parts.biased - half, shift))};
}

V clampExp(V x) { return x.elem() == Elem::F32 ? clampTo(x, -104.5, 89) : clampTo(x, -746, 710); }

V expWithTail(V x, V tail) {
  Parts parts = reduce(clampExp(x), tail);
  auto [a, b] = scales(parts);
  return (parts.p + 1.0) * a * b;
}

/// e^x / 2 of float64, which overflows only where the result does.
V halfExp(V x) {
  Parts parts = reduce(clampTo(x, -700, 711), V());
  auto [a, b] = scales(parts);
  return (parts.p + 1.0) * (a * 0.5) * b;
}

/// p and 2^(n + bias) with e^x = 2^n (1 + p), where the latter is normal. `bias` is added to the exponent field.
std::pair<V, V> scaledParts(V x, int bias) {
  bool single = x.elem() == Elem::F32;
  double magic = roundingMagic(x.elem()) + exponentBias(x.elem()) + bias;
  V shifted = fma(x, kLog2E, x.c(magic));
  V n = shifted - magic;
  V r = fma(n, single ? -kLn2High32 : -kLn2, x);
  r = fma(n, single ? -kLn2Low32 : -kLn2Low, r);
  return {expm1Reduced(r), fromBits(shl(toBits(shifted), mantissaBits(x.elem())))};
}

/// e^x 2^bias, where the result is normal.
V scaledExp(V x, int bias) {
  auto [p, scale] = scaledParts(x, bias);
  return (p + 1.0) * scale;
}

/// e^x / 4 of a float32 in [0, inf], up to where e^x / 2 overflows.
V quarterExp32(V x) { return scaledExp(clampTo(x, 0, 90), -2); }

} // namespace

V exp(V x) { return expWithTail(x, V()); }

V clampTo(V x, double low, double high) {
  x = select(gt(x.c(low), x), low, x);
  return select(lt(x.c(high), x), high, x);
}

V expNormal(V x) { return scaledExp(x, 0); }

V exp28(V x) {
  V shifted = fma(x, kLog2E, x.c(0x1.8p52 + 1023));
  V r = fma(shifted - (0x1.8p52 + 1023), -kLn2, x);
  V p = polynomial(r, kExp28);
  return p * fromBits(shl(toBits(shifted), 52));
}

V expSum(V hi, V lo) { return expWithTail(hi, lo); }

V expm1(V x) {
  bool single = x.elem() == Elem::F32;
  // Below -50 the result is -1 in every digit.
  Parts parts = reduce(single ? clampTo(x, -50, 89) : clampTo(x, -50, 710), V());
  auto [a, b] = scales(parts);
  // (p + 1) a b - 1 = (p a + (a - 1/b)) b: a - 1/b is exact where it matters.
  unsigned shift = mantissaBits(x.elem());
  V bits = toBits(b), inverse = fromBits(bits.ci(uint64_t(2 * exponentBias(x.elem())) << shift) - bits);
  V result = fma(parts.p, a, a - inverse) * b;
  return select(eq(x, 0.0), x, result); // keeps -0
}

V sigmoid(V x) {
  V e = exp(-fabs(x)), d = e + 1.0, q = select(ge(x, 0.0), 1.0, e) / d;
  // Where e is also the numerator, its error adds to those of the sum and the quotient; correct for these two.
  // 1/d is 1 - q.
  V rest = fma(-q, d, e) - q * (e - (d - 1.0));
  return select(lt(x, 0.0), fma(rest, 1.0 - q, q), q);
}

V shortSigmoid(V x) { return 1.0 / (scaledExp(clampTo(-x, -87, 88), 0) + 1.0); }

// (e^2a - 1) / (e^2a + 1), whose numerator keeps its digits near 0; above 10 the result is 1.
V shortTanh(V x) {
  V a = fabs(x);
  auto [p, scale] = scaledParts(select(gt(a, 10), 10, a) * 2.0, 0);
  V t = fma(p, scale, scale - 1.0);
  return copySign(t / (t + 2.0), x);
}

// float32: an odd polynomial below 1; above it 2u - 1/(8u) with u = e^|x| / 4, where the error of the reciprocal is far
// below an ulp.
static V sinh32(V x) {
  V a = fabs(x), z = x * x, u = quarterExp32(a);
  V small = fma(polynomial(z, kSinh32) * z, a, a);
  V large = fma(u, 2.0, -(0.125 / u));
  return copySign(select(lt(a, 1.0), small, large), x);
}

// float64: sinh, cosh and tanh follow fdlibm, from expm1 of the magnitude.
V sinh(V x) {
  if (x.elem() == Elem::F32)
    return sinh32(x);
  V magnitude = fabs(x);
  V t = expm1(select(gt(magnitude, 22), 22, magnitude));
  V small = (t + t / (t + 1.0)) * 0.5;
  V result = select(gt(magnitude, 22), halfExp(magnitude), small);
  return select(isNan(x), x, copySign(result, x));
}

V cosh(V x) {
  if (x.elem() == Elem::F32) {
    V u = quarterExp32(fabs(x));
    return fma(u, 2.0, 0.125 / u);
  }
  V half = halfExp(fabs(x));
  return half + 0.25 / half;
}

// float32: Cephes' tanhf.
static V tanh32(V x) {
  V a = fabs(x), z = x * x;
  V p = polynomial(z, kTanh32);
  V small = fma(p * z, x, x);
  V e = exp(select(gt(a, 10), 10, a) * 2.0);
  V large = 1.0 - 2.0 / (e + 1.0);
  return copySign(select(lt(a, 0.625), small, large), x);
}

V tanh(V x) {
  if (x.elem() == Elem::F32)
    return tanh32(x);
  V magnitude = fabs(x);
  V t = expm1(select(gt(magnitude, 22), 22, magnitude) * 2.0);
  V large = ge(magnitude, 1.0);
  V quotient = select(large, 2.0, t) / (t + 2.0);
  return copySign(select(large, 1.0 - quotient, quotient), x);
}

} // namespace tess::compiler::vmath
