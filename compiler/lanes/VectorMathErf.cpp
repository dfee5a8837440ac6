//===- VectorMathErf.cpp - the error function ----------------------------===//
//
// float64 uses the rational functions of fdlibm's s_erf.c, one per interval.
// float32: erf is an odd polynomial below 0.93 and 1 - e^q above (the form of
// N. Juffa's erff); erfc is computed in float64, by one polynomial for all
// arguments.
//
//===----------------------------------------------------------------------===//
#include "compiler/lanes/VectorMath.h"
#include "compiler/lanes/VectorMathConstants.h"

namespace tess::compiler::vmath {

namespace {

V erf32(V x) {
  V t = fabs(x), s = x * x;
  V q = fma(t.c(kErfExponent32[0]), t, kErfExponent32[1]);
  q = fma(q, s, fma(t.c(kErfExponent32[2]), t, kErfExponent32[3]));
  q = fma(q, t, kErfExponent32[4]);
  q = fma(q, t, kErfExponent32[5]);
  q = fma(q, t, kErfExponent32[6]);
  q = fma(q, t, -t);
  V large = copySign(1.0 - expNormal(select(gt(t, 4.0), -20.0, q)), x);
  V p = polynomial(s, kErf32);
  V small = fma(p, x, x);
  return select(gt(t, 0.927734375), large, small);
}

/// (1 + 2a) e^(a^2) erfc(a) is a polynomial in q = (a - 3) / (a + 3) (M. Shepherd and J. Laframboise, "Chebyshev
/// approximation of (1 + 2x) exp(x^2) erfc x", 1981); this one has an error of 2^-28 for a in [0, 10.2].
V erfc32(V x) {
  V d = toF64(x), a = fabs(d);
  a = select(gt(a, 10.2), 10.2, a);
  V sum = a + 3.0, weight = a * 2.0 + 1.0, inverse = 1.0 / (sum * weight);
  V p = polynomial((a - 3.0) * weight * inverse, kErfc32);
  V result = p * exp28(-(a * a)) * (sum * inverse);
  return toF32(select(lt(d, 0.0), 2.0 - result, result));
}

/// Numerator over denominator, both from the highest coefficient down.
V ratio(V x, llvm::ArrayRef<double> p, llvm::ArrayRef<double> q) { return polynomial(x, p) / polynomial(x, q); }

/// The factor f of erf(x) = x + x f for |x| < 0.84375; z = x^2.
V nearZero(V z) { return ratio(z, kErfZeroP, kErfZeroQ); }

/// The term t of erf(1 + s) = erx + t for |s| < 0.25.
V nearOne(V s) { return ratio(s, kErfOneP, kErfOneQ); }

/// The term t of erfc(x) = e^(-x^2 - 0.5625 + t) / x for x >= 1.25; s = 1/x^2.
V tail(V x, V s) {
  V middle = ratio(s, kErfMiddleP, kErfMiddleQ);
  V far = ratio(s, kErfFarP, kErfFarQ);
  return select(lt(x, 1 / 0.35), middle, far);
}

/// erfc(x) for x in [1.25, 28].
V erfcTail(V x) {
  V s = 1.0 / (x * x);
  // x^2 in two exact parts: the square of the upper half of x is not rounded.
  V bits = toBits(x), z = fromBits(bits & bits.ci(0xffffffff00000000));
  V upper = exp(fma(-z, z, -0.5625)), lower = exp(fma(z - x, z + x, tail(x, s)));
  return upper * lower / x;
}

} // namespace

V erf(V x) {
  if (x.elem() == Elem::F32)
    return erf32(x);
  V a = fabs(x), zero = fma(nearZero(x * x), x, x);
  V one = nearOne(a - 1.0) + kErx;
  V clamped = select(gt(a, 6.0), 6.0, a);
  V large = select(lt(a, 1.25), one, 1.0 - erfcTail(select(lt(clamped, 1.25), 1.25, clamped)));
  return select(lt(a, 0.84375), zero, select(isNan(x), x, copySign(large, x)));
}

V erfc(V x) {
  if (x.elem() == Elem::F32)
    return erfc32(x);
  V a = fabs(x), small = nearZero(x * x);
  // 1 - erf(x) = 0.5 - (x - 0.5 + x r) keeps the digits above 1/4.
  V zero = select(lt(x, 0.25), 1.0 - fma(x, small, x), 0.5 - fma(x, small, x - 0.5));
  V p = nearOne(a - 1.0);
  V one = select(lt(x, 0.0), p + (1.0 + kErx), (1.0 - kErx) - p);
  V clamped = select(gt(a, 28.0), 28.0, select(lt(a, 1.25), 1.25, a));
  V far = erfcTail(clamped);
  far = select(lt(x, 0.0), 2.0 - far, far);
  V result = select(lt(a, 1.25), one, far);
  return select(lt(a, 0.84375), zero, select(isNan(x), x, result));
}

} // namespace tess::compiler::vmath
