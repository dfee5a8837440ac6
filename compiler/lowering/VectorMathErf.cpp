//===- VectorMathErf.cpp - the error function ----------------------------===//
//
// float64: fdlibm's s_erf.c rational functions per interval. float32: erf an odd
// polynomial below 0.93, 1 - e^q above (the form of N. Juffa's erff); erfc in
// float64, one polynomial for all arguments.
//
//===----------------------------------------------------------------------===//
#include "compiler/lowering/VectorMath.h"

namespace tess::compiler::vmath {

namespace {

V erf32(V x) {
  V t = fabs(x), s = x * x;
  V q = fma(t.c(-1.72853470e-5), t, 3.83197126e-4);
  q = fma(q, s, fma(t.c(-3.88396438e-3), t, 2.42546219e-2));
  q = fma(q, t, -1.06777877e-1);
  q = fma(q, t, -6.34846687e-1);
  q = fma(q, t, -1.28717512e-1);
  q = fma(q, t, -t);
  V large = copySign(1.0 - expNormal(select(gt(t, 4.0), -20.0, q)), x);
  V p = polynomial(s, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1});
  V small = fma(p, x, x);
  return select(gt(t, 0.927734375), large, small);
}

/// (1 + 2a) e^(a^2) erfc(a) is a polynomial in q = (a - 3) / (a + 3) (M. Shepherd and J. Laframboise, "Chebyshev
/// approximation of (1 + 2x) exp(x^2) erfc x", 1981); this one has an error of 2^-28 for a in [0, 10.2].
V erfc32(V x) {
  V d = toF64(x), a = fabs(d);
  a = select(gt(a, 10.2), 10.2, a);
  V sum = a + 3.0, weight = a * 2.0 + 1.0, inverse = 1.0 / (sum * weight);
  V p = polynomial((a - 3.0) * weight * inverse,
                   {-0x1.21d0f1bce9e29p-12, -0x1.a133a7774f499p-11, 0x1.05ab4105fcee7p-9, 0x1.5203b0f84bbf1p-9,
                    -0x1.85cc256e46942p-6, 0x1.17bac93a8cf9fp-4, -0x1.e88a4104b8236p-4, 0x1.098429c361de8p-3,
                    -0x1.85a159aba677bp-5, -0x1.15c089ed75fc9p-3, 0x1.40c522d64e381p+0});
  V result = p * exp28(-(a * a)) * (sum * inverse);
  return toF32(select(lt(d, 0.0), 2.0 - result, result));
}

/// Numerator over denominator, both from the highest coefficient down.
V ratio(V x, llvm::ArrayRef<double> p, llvm::ArrayRef<double> q) { return polynomial(x, p) / polynomial(x, q); }

constexpr double kErx = 8.45062911510467529297e-01;

/// erf(x) = x + x * this, |x| < 0.84375.
V nearZero(V z) {
  return ratio(z,
               {-2.37630166566501626084e-05, -5.77027029648944159157e-03, -2.84817495755985104766e-02,
                -3.25042107247001499370e-01, 1.28379167095512558561e-01},
               {-3.96022827877536812320e-06, 1.32494738004321644526e-04, 5.08130628187576562776e-03,
                6.50222499887672944485e-02, 3.97917223959155352819e-01, 1.0});
}

/// erf(1 + s) = erx + this, |s| < 0.25.
V nearOne(V s) {
  return ratio(s,
               {-2.16637559486879084300e-03, 3.54783043256182359371e-02, -1.10894694282396677476e-01,
                3.18346619901161753674e-01, -3.72207876035701323847e-01, 4.14856118683748331666e-01,
                -2.36211856075265944077e-03},
               {1.19844998467991074170e-02, 1.36370839120290507362e-02, 1.26171219808761642112e-01,
                7.18286544141962662868e-02, 5.40397917702171048937e-01, 1.06420880400844228286e-01, 1.0});
}

/// erfc(x) = e^(-x^2 - 0.5625 + this) / x for x >= 1.25, s = 1/x^2.
V tail(V x, V s) {
  V middle = ratio(s,
                   {-9.81432934416914548592e+00, -8.12874355063065934246e+01, -1.84605092906711035994e+02,
                    -1.62396669462573470355e+02, -6.23753324503260060396e+01, -1.05586262253232909814e+01,
                    -6.93858572707181764372e-01, -9.86494403484714822705e-03},
                   {-6.04244152148580987438e-02, 6.57024977031928170135e+00, 1.08635005541779435134e+02,
                    4.29008140027567833386e+02, 6.45387271733267880336e+02, 4.34565877475229228821e+02,
                    1.37657754143519042600e+02, 1.96512716674392571292e+01, 1.0});
  V far = ratio(s,
                {-4.83519191608651397019e+02, -1.02509513161107724954e+03, -6.37566443368389627722e+02,
                 -1.60636384855821916062e+02, -1.77579549177547519889e+01, -7.99283237680523006574e-01,
                 -9.86494292470009928597e-03},
                {-2.24409524465858183362e+01, 4.74528541206955367215e+02, 2.55305040643316442583e+03,
                 3.19985821950859553908e+03, 1.53672958608443695994e+03, 3.25792512996573918826e+02,
                 3.03380607434824582924e+01, 1.0});
  return select(lt(x, 1 / 0.35), middle, far);
}

/// erfc of a magnitude in [1.25, 28].
V erfcTail(V x) {
  V s = 1.0 / (x * x);
  // x^2 in two exact parts: the upper half of x squares without rounding.
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
