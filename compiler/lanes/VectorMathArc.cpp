//===- VectorMathArc.cpp - inverse trigonometry --------------------------===//
//
// float64 follows fdlibm (e_asin.c, e_acos.c, s_atan.c, e_atan2.c), with all
// intervals computed at once and chosen by selects. float32 uses odd minimax
// polynomials (Sollya's fpminimax).
//
//===----------------------------------------------------------------------===//
#include "compiler/lanes/VectorMath.h"
#include "compiler/lanes/VectorMathConstants.h"

namespace tess::compiler::vmath {

namespace {

constexpr double kPio2Hi = kPio2[0], kPio2Lo = kPio2[1];
constexpr double kPi = 2 * kPio2Hi, kPiLo = 2 * kPio2Lo, kPio4 = kPio2Hi / 2;

/// (asin(x) - x) / x for z = x^2 <= 1/4.
V arcRatio(V z) {
  V p = polynomial(z, kAsinP) * z;
  V q = polynomial(z, kAsinQ);
  return p / q;
}

/// s = sqrt(z) rounded, its upper half, and the missing rest (z - upper^2) / (s + upper).
struct Root {
  V s, upper, missing;
};
Root root(V z) {
  V s = sqrt(z), bits = toBits(s), upper = fromBits(bits & bits.ci(0xffffffff00000000));
  return {s, upper, select(eq(s, 0.0), 0.0, fma(-upper, upper, z) / (s + upper))};
}

/// The first value whose bound is above x; the last value when no bound is.
V choose(V x, llvm::ArrayRef<double> bounds, llvm::ArrayRef<V> values) {
  V result = values.back();
  for (unsigned i = bounds.size(); i-- > 0;)
    result = select(lt(x, bounds[i]), values[i], result);
  return result;
}

/// atan(a) for a >= 0.
V atanMagnitude(V a) {
  constexpr double bounds[] = {0.4375, 0.6875, 1.1875, 2.4375};
  V one = a.c(1.0);
  V numerator = choose(a, bounds, {a, fma(a, 2.0, a.c(-1.0)), a - 1.0, a - 1.5, a.c(-1.0)});
  V denominator = choose(a, bounds, {one, a + 2.0, a + 1.0, fma(a, 1.5, one), a});
  V high = choose(a, bounds, {a.c(0), a.c(kAtanHigh[0]), a.c(kAtanHigh[1]), a.c(kAtanHigh[2]), a.c(kAtanHigh[3])});
  V low = choose(a, bounds, {a.c(0), a.c(kAtanLow[0]), a.c(kAtanLow[1]), a.c(kAtanLow[2]), a.c(kAtanLow[3])});
  V t = numerator / denominator, z = t * t;
  V s = polynomial(z, kAtan64) * z;
  return high - ((t * s - low) - t);
}

// float32: pi/2 rounded, and the amount by which that is too large.
constexpr double kPio2Hi32 = kPi32 / 2, kPio2Over32 = kPi32Over / 2;

/// atan of t in [-1, 1].
V atanOfRatio32(V t) {
  V z = t * t;
  V p = polynomial(z, kAtan32);
  return fma(p * z, t, t);
}

V atan32(V x) {
  V a = fabs(x), large = gt(a, 1.0);
  V angle = atanOfRatio32(select(large, -1.0, a) / select(large, a, 1.0));
  return copySign(select(large, (angle - kPio2Over32) + kPio2Hi32, angle), x);
}

V atan2of32(V y, V x) {
  V ay = fabs(y), ax = fabs(x), steep = gt(ay, ax);
  V ratio = select(steep, -ax, ay) / select(steep, ay, ax);
  ratio = select(eq(ay, ax), select(eq(ax, 0.0), 0.0, ax.c(1.0)), ratio); // zeros, and infinities
  V angle = atanOfRatio32(ratio);
  angle = select(steep, (angle - kPio2Over32) + kPio2Hi32, angle);
  V leftHalf = lt(toBits(x), toBits(x).ci(0)); // includes -0
  return copySign(select(leftHalf, kPi32 - (angle + kPi32Over), angle), y);
}

/// The angle asin(s), where s is x for |x| < 9/16 (`small`) and otherwise sqrt((1 - |x|) / 2), whose angle is half of
/// the distance to pi/2. That angle is below 1/2, so twice its error is within an ulp of the result.
struct Arc32 {
  V small, angle;
};

Arc32 arc32(V x, bool keepsSign) {
  V a = fabs(x), small = lt(a, 0.5625);
  V z = select(small, x * x, (1.0 - a) * 0.5), s = select(small, keepsSign ? x : a, sqrt(z));
  V p = polynomial(z, kAsin32);
  return {small, fma(p * z, s, s)};
}

V asin32(V x) {
  auto [small, angle] = arc32(x, false);
  return copySign(select(small, angle, fma(angle, -2.0, angle.c(kPio2Hi32))), x);
}

V acos32(V x) {
  auto [small, angle] = arc32(x, true);
  V twice = angle * 2.0, far = select(lt(x, 0.0), kPi32 - (twice + kPi32Over), twice);
  return select(small, kPio2Hi32 - (angle + kPio2Over32), far);
}

} // namespace

V asin(V x) {
  if (x.elem() == Elem::F32)
    return asin32(x);
  V a = fabs(x), small = lt(a, 0.5);
  V z = select(small, x * x, (1.0 - a) * 0.5), ratio = arcRatio(z);
  Root r = root(z);
  // pi/2 - 2 (s + s ratio), with pi/2 and s each in two parts.
  V p = r.s * ratio * 2.0 - (kPio2Lo - r.missing * 2.0);
  V q = kPio4 - r.upper * 2.0;
  V large = copySign(kPio4 - (p - q), x);
  V result = select(small, fma(x, ratio, x), large);
  return select(isNan(x), x, select(gt(a, 1.0), kNan, result));
}

V acos(V x) {
  if (x.elem() == Elem::F32)
    return acos32(x);
  V a = fabs(x), small = lt(a, 0.5);
  V z = select(small, x * x, (1.0 - a) * 0.5), ratio = arcRatio(z);
  Root r = root(z);
  V middle = kPio2Hi - (x - (kPio2Lo - x * ratio));
  V positive = (r.upper + fma(r.s, ratio, r.missing)) * 2.0;
  V negative = kPi - (r.s + (r.s * ratio - kPio2Lo)) * 2.0;
  V result = select(small, middle, select(lt(x, 0.0), negative, positive));
  return select(isNan(x), x, select(gt(a, 1.0), kNan, result));
}

V atan(V x) {
  if (x.elem() == Elem::F32)
    return atan32(x);
  return select(isNan(x), x, copySign(atanMagnitude(fabs(x)), x));
}

V atan2(V y, V x) {
  if (x.elem() == Elem::F32)
    return atan2of32(y, x);
  V ay = fabs(y), ax = fabs(x), bothInfinite = eq(ay, kInf) & eq(ax, kInf);
  V quotient = select(bothInfinite, 1.0, select(eq(ay, 0.0), 0.0, ay / ax));
  V angle = atanMagnitude(quotient);
  V leftHalf = lt(toBits(x), toBits(x).ci(0)); // includes -0
  angle = select(leftHalf, kPi - (angle - kPiLo), angle);
  V result = copySign(angle, y);
  return select(isNan(x) | isNan(y), x + y, result);
}

} // namespace tess::compiler::vmath
