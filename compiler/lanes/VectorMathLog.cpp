//===- VectorMathLog.cpp - logarithms and inverse hyperbolics ------------===//
//
// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). float32 uses the
// polynomial of Cephes' logf; float64 fdlibm's series in s = f / (2 + f). Where
// float32 needs more digits than its own, it goes through float64 with log37:
// minimax polynomials (Sollya's fpminimax) in s^2, whose relative error is
// 2^-37.8.
//
//===----------------------------------------------------------------------===//
#include "compiler/lanes/VectorMath.h"
#include "compiler/lanes/VectorMathConstants.h"

namespace tess::compiler::vmath {

namespace {

/// log(1 + f) + k ln 2.
V logReduced(V f, V k) {
  if (f.elem() == Elem::F32) {
    V z = f * f;
    V p = polynomial(f, kLog32);
    V y = p * f * z;
    y = fma(k, kLn2Low32, y);
    y = fma(z, -0.5, y);
    return fma(k, kLn2High32, f + y);
  }
  V s = f / (f + 2.0), z = s * s, half = f * f * 0.5;
  V r = polynomial(z, kLog64) * z;
  V low = fma(k, kLn2Low64, s * (half + r));
  return fma(k, kLn2High64, f - (half - low));
}

struct Split {
  V mantissa, exponent; // x = 2^exponent mantissa; exponent as integer
};

/// Splits a positive normal number.
Split split(V x) {
  bool single = x.elem() == Elem::F32;
  V bits = toBits(x);
  V root = bits.ci(single ? 0x3f3504f3 : 0x3fe6a09e667f3bcd);
  V k = ashr(bits - root, single ? 23 : 52);
  return {fromBits(bits - shl(k, single ? 23 : 52)), k};
}

V toFloat(V k) {
  return k.b().convert(k.elem() == Elem::I64 ? k.b().convert(k, Elem::I32) : k,
                       k.elem() == Elem::I64 ? Elem::F64 : Elem::F32);
}

V edges(V x, V result) {
  result = select(eq(x, 0.0), -kInf, result);
  result = select(ge(x, 0.0), result, kNan);
  return select(eq(x, kInf), x, result);
}

} // namespace

V logNormal(V x) {
  auto [m, k] = split(x);
  return logReduced(m - 1.0, toFloat(k));
}

V log37(V x) {
  auto [m, k] = split(x);
  V s = (m - 1.0) / (m + 1.0);
  V p = polynomial(s * s, kLog37);
  return fma(toFloat(k), kLn2, s * p);
}

V log(V x) {
  bool single = x.elem() == Elem::F32;
  V tiny = lt(x, single ? 0x1p-126 : 0x1p-1022);
  V scaled = select(tiny, x * (single ? 0x1p23 : 0x1p52), x);
  auto [m, k] = split(scaled);
  V exponent = toFloat(k);
  exponent = select(tiny, exponent - (single ? 23.0 : 52.0), exponent);
  return edges(x, logReduced(m - 1.0, exponent));
}

// The rounding of u = 1 + x loses c = x - (u - 1), which f gets back, scaled like the mantissa.
V log1p(V x) {
  bool single = x.elem() == Elem::F32;
  V u = x + 1.0;
  V c = select(gt(x, single ? 0x1p30 : 0x1p60), 0.0, select(lt(fabs(x), 1.0), x - (u - 1.0), 1.0 - (u - x)));
  auto [m, k] = split(u);
  unsigned shift = single ? 23 : 52;
  V limit = k.ci(single ? 126 : 1022), field = select(gt(k, limit), limit, k);
  V scale = fromBits(shl(k.ci(single ? 127 : 1023) - field, shift));
  V result = logReduced(fma(c, scale, m - 1.0), toFloat(k));
  result = select(eq(x, -1.0), -kInf, result);
  result = select(ge(x, -1.0), result, kNan);
  result = select(eq(x, kInf), x, result);
  return select(eq(x, 0.0), x, result);
}

// float32 goes through float64, where nothing overflows and 1 + x has enough digits from 2^-12 on. Below that the
// result is x: the next term of the series is x^3 / 6 (atanh: x^3 / 3).
static V asinh32(V x) {
  V a = fabs(x), d = toF64(a);
  V result = select(lt(a, 0x1p-12), a, toF32(log37(d + sqrt(fma(d, d, 1.0)))));
  return copySign(select(lt(a, kInf), result, a), x);
}

static V acosh32(V x) {
  V d = toF64(x), result = toF32(log37(d + sqrt(fma(d, d, -1.0))));
  return select(lt(x, 1.0), kNan, select(lt(x, kInf), result, x));
}

static V atanh32(V x) {
  V a = fabs(x), d = toF64(a);
  V result = select(lt(a, 0x1p-12), a, toF32(log37((1.0 + d) / (1.0 - d)) * 0.5));
  return copySign(select(lt(a, 1.0), result, select(eq(a, 1.0), kInf, a.c(kNan))), x);
}

// Follows fdlibm, with one log1p for all arguments.
V asinh(V x) {
  if (x.elem() == Elem::F32)
    return asinh32(x);
  V magnitude = fabs(x), huge = gt(magnitude, 0x1p28);
  V a = select(huge, 0.0, magnitude), square = a * a;
  V argument = a + square / (sqrt(square + 1.0) + 1.0);
  V result = log1p(select(huge, magnitude - 1.0, argument));
  result = select(huge, result + kLn2, result);
  return select(isNan(x), x, copySign(result, x));
}

V acosh(V x) {
  if (x.elem() == Elem::F32)
    return acosh32(x);
  V huge = gt(x, 0x1p28);
  V t = select(huge, 0.0, x) - 1.0;
  V argument = t + sqrt(fma(t, t, t * 2.0));
  V result = log1p(select(huge, x - 1.0, argument));
  return select(lt(x, 1.0), kNan, select(huge, result + kLn2, result));
}

V atanh(V x) {
  if (x.elem() == Elem::F32)
    return atanh32(x);
  V a = fabs(x), twice = a * 2.0;
  V argument = select(lt(a, 0.5), twice + twice * a / (1.0 - a), twice / (1.0 - a));
  return select(isNan(x), x, copySign(log1p(argument) * 0.5, x));
}

// log(1 + e) = 2 atanh(e / (2 + e)): a minimax polynomial with an error of 2^-33 for e in [0, 1].
static V logAddExp32(V x, V y) {
  V a = toF64(x), b = toF64(y), distance = -fabs(a - b);
  V e = exp28(select(gt(distance, -700), distance, -700)), s = e / (e + 2.0); // NaN (equal infinities) becomes -700 too
  V p = polynomial(s * s, kLogAddExp32);
  V result = toF32(fma(s, p, select(gt(a, b), a, b)));
  return select(x.b().compare(LaneBuilder::Cmp::Unordered, x, y), x + y, result);
}

V logAddExp(V a, V b) {
  if (a.elem() == Elem::F32)
    return logAddExp32(a, b);
  V larger = select(isNan(a), a, select(gt(a, b), a, b));
  larger = select(isNan(b), b, larger);
  V distance = select(eq(a, b), 0.0, -fabs(a - b)); // equal infinities
  return larger + log1p(exp(distance));
}

} // namespace tess::compiler::vmath
