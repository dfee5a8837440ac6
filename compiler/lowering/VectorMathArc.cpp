//===- VectorMathArc.cpp - inverse trigonometry --------------------------===//
//
// float64 after fdlibm (e_asin.c, e_acos.c, s_atan.c, e_atan2.c), all intervals
// at once with selects. float32: odd minimax polynomials (Sollya's fpminimax).
//
//===----------------------------------------------------------------------===//
#include "compiler/lowering/VectorMath.h"

#include <limits>

namespace tess::compiler::vmath {

namespace {

constexpr double kPio2Hi = 1.57079632679489655800e+00, kPio2Lo = 6.12323399573676603587e-17;
constexpr double kPi = 3.14159265358979311600e+00, kPiLo = 1.2246467991473531772e-16;

/// (asin(x) - x) / x for z = x^2 <= 1/4.
V arcRatio(V z) {
  V p = polynomial(z, {3.47933107596021167570e-05, 7.91534994289814532176e-04, -4.00555345006794114027e-02,
                       2.01212532134862925881e-01, -3.25565818622400915405e-01, 1.66666666666666657415e-01}) *
        z;
  V q = polynomial(z, {7.70381505559019352791e-02, -6.88283971605453293030e-01, 2.02094576023350569471e+00,
                       -2.40339491173441421878e+00, 1.0});
  return p / q;
}

/// sqrt(z) = s and what it misses, c = (z - s'^2) / (s + s') with s' the upper half of s.
struct Root {
  V s, upper, missing;
};
Root root(V z) {
  V s = sqrt(z), bits = toBits(s), upper = fromBits(bits & bits.ci(0xffffffff00000000));
  return {s, upper, select(eq(s, 0.0), 0.0, fma(-upper, upper, z) / (s + upper))};
}

/// Chooses the first value whose bound is above x, else the last one.
V choose(V x, llvm::ArrayRef<double> bounds, llvm::ArrayRef<V> values) {
  V result = values.back();
  for (unsigned i = bounds.size(); i-- > 0;)
    result = select(lt(x, bounds[i]), values[i], result);
  return result;
}

/// atan of a magnitude.
V atanMagnitude(V a) {
  constexpr double bounds[] = {0.4375, 0.6875, 1.1875, 2.4375};
  V one = a.c(1.0);
  V numerator = choose(a, bounds, {a, fma(a, 2.0, a.c(-1.0)), a - 1.0, a - 1.5, a.c(-1.0)});
  V denominator = choose(a, bounds, {one, a + 2.0, a + 1.0, fma(a, 1.5, one), a});
  V high = choose(a, bounds,
                  {a.c(0), a.c(4.63647609000806093515e-01), a.c(7.85398163397448278999e-01),
                   a.c(9.82793723247329054082e-01), a.c(kPio2Hi)});
  V low = choose(a, bounds,
                 {a.c(0), a.c(2.26987774529616870924e-17), a.c(3.06161699786838301793e-17),
                  a.c(1.39033110312309984516e-17), a.c(kPio2Lo)});
  V t = numerator / denominator, z = t * t;
  V s = polynomial(z, {1.62858201153657823623e-02, -3.65315727442169155270e-02, 4.97687799461593236017e-02,
                       -5.83357013379057348645e-02, 6.66107313738753120669e-02, -7.69187620504482999495e-02,
                       9.09088713343650656196e-02, -1.11111104054623557880e-01, 1.42857142725034663711e-01,
                       -1.99999999998764832476e-01, 3.33333333333329318027e-01}) *
        z;
  return high - ((t * s - low) - t);
}

// float32: pi and its half as a number and what that is too large by.
constexpr double kPi32 = 3.14159274101257324219, kPi32Over = 8.74227765734758577e-08;
constexpr double kPio2Hi32 = kPi32 / 2, kPio2Over32 = kPi32Over / 2;

/// atan of t in [-1, 1].
V atanOfRatio32(V t) {
  V z = t * t;
  V p = polynomial(z, {-0x1.449a16p-9, 0x1.c62ea6p-7, -0x1.2a759ap-5, 0x1.01e514p-4, -0x1.636df2p-4, 0x1.c423eep-4,
                       -0x1.246f74p-3, 0x1.99984cp-3, -0x1.555554p-2});
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
  ratio = select(eq(ay, ax), select(eq(ax, 0.0), 0.0, ax.c(1.0)), ratio); // of zeros, and of infinities
  V angle = atanOfRatio32(ratio);
  angle = select(steep, (angle - kPio2Over32) + kPio2Hi32, angle);
  V leftHalf = lt(toBits(x), toBits(x).ci(0)); // -0 too
  return copySign(select(leftHalf, kPi32 - (angle + kPi32Over), angle), y);
}

/// asin of x and the rest of it: x for |x| < 9/16, else sqrt((1 - |x|) / 2), whose angle is half of what is missing to
/// pi/2. There the angle is below 1/2, so that twice its error is an ulp of the result.
struct Arc32 {
  V small, angle;
};

Arc32 arc32(V x, bool keepsSign) {
  V a = fabs(x), small = lt(a, 0.5625);
  V z = select(small, x * x, (1.0 - a) * 0.5), s = select(small, keepsSign ? x : a, sqrt(z));
  V p = polynomial(z, {0x1.573674p-5, 0x1.8342c2p-7, 0x1.08af92p-5, 0x1.6c70f4p-5, 0x1.333808p-4, 0x1.555552p-3});
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
  // pi/2 - 2 (s + s ratio), the parts of pi/2 and of s apart.
  V p = r.s * ratio * 2.0 - (kPio2Lo - r.missing * 2.0);
  V q = 0.78539816339744827900 - r.upper * 2.0;
  V large = copySign(0.78539816339744827900 - (p - q), x);
  V result = select(small, fma(x, ratio, x), large);
  return select(isNan(x), x, select(gt(a, 1.0), std::numeric_limits<double>::quiet_NaN(), result));
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
  return select(isNan(x), x, select(gt(a, 1.0), std::numeric_limits<double>::quiet_NaN(), result));
}

V atan(V x) {
  if (x.elem() == Elem::F32)
    return atan32(x);
  return select(isNan(x), x, copySign(atanMagnitude(fabs(x)), x));
}

V atan2(V y, V x) {
  if (x.elem() == Elem::F32)
    return atan2of32(y, x);
  constexpr double inf = std::numeric_limits<double>::infinity();
  V ay = fabs(y), ax = fabs(x), bothInfinite = eq(ay, inf) & eq(ax, inf);
  V quotient = select(bothInfinite, 1.0, select(eq(ay, 0.0), 0.0, ay / ax));
  V angle = atanMagnitude(quotient);
  V leftHalf = lt(toBits(x), toBits(x).ci(0)); // -0 too
  angle = select(leftHalf, kPi - (angle - kPiLo), angle);
  V result = copySign(angle, y);
  return select(isNan(x) | isNan(y), x + y, result);
}

} // namespace tess::compiler::vmath
