//===- VectorMathPow.cpp - powers and remainders -------------------------===//
#include "compiler/lanes/VectorMath.h"
#include "compiler/lanes/VectorMathConstants.h"

namespace tess::compiler::vmath {

namespace {

/// An unevaluated sum, |lo| <= ulp(hi).
struct Pair {
  V hi, lo;
};

Pair twoSum(V a, V b) {
  V sum = a + b, back = sum - a;
  return {sum, (a - (sum - back)) + (b - back)};
}

Pair fastTwoSum(V a, V b) {
  V sum = a + b;
  return {sum, b - (sum - a)};
}

/// log(x) of a positive finite number with about 64 binary digits: 2 atanh((m-1)/(m+1)) + k ln 2. The first two terms
/// of the series are in two parts; the rest, below 2^-12 of the sum, is a Taylor polynomial in one part.
Pair logPair(V x) {
  V tiny = lt(x, 0x1p-1022), scaled = select(tiny, x * 0x1p54, x);
  V bits = toBits(scaled), k = ashr(bits - bits.ci(0x3fe6a09e667f3bcd), 52);
  V m = fromBits(bits - shl(k, 52));
  V exponent = x.b().convert(x.b().convert(k, Elem::I32), Elem::F64);
  exponent = select(tiny, exponent - 54.0, exponent);
  // s = (m-1)/(m+1): m - 1 is exact, m + 1 is rounded and leaves dRest.
  V f = m - 1.0, d = m + 1.0, dRest = (1.0 - d) + m;
  V s = f / d, sLow = fma(-s, dRest, fma(-s, d, f)) / d;
  V z = s * s, zLow = fma(s, s, -z) + s * sLow * 2.0;
  V p = polynomial(z, kLogPair);
  // c = 1/3 + z p, in two parts; then s^3 c.
  Pair c = fastTwoSum(z.c(kThird), z * p);
  c.lo = c.lo + kThirdLow;
  V cube = s * z, cubeLow = fma(s, z, -cube) + s * zLow + sLow * z;
  V t = cube * c.hi, tLow = fma(cube, c.hi, -t) + cube * c.lo + cubeLow * c.hi;
  Pair sum = fastTwoSum(s, t);
  V low = sum.lo + (sLow + tLow);
  V scale = exponent * kLn2, scaleLow = fma(exponent, kLn2, -scale);
  Pair result = twoSum(scale, sum.hi * 2.0);
  V rest = result.lo + fma(exponent, kLn2Low, fma(low, 2.0, scaleLow));
  return fastTwoSum(result.hi, rest);
}

/// |base|^exponent of float64.
V powMagnitude(V base, V exponent) {
  V edge = select(eq(base, 0.0), -kInf, base.c(kInf)), special = eq(base, 0.0) | eq(base, kInf);
  Pair l = logPair(select(special, 1.0, base));
  V high = select(special, edge, l.hi), low = select(special, 0.0, l.lo);
  V p = exponent * high, rest = fma(exponent, high, -p) + exponent * low;
  // Beyond the range of exp, or for an infinite or NaN p, the rest does not matter and may itself be NaN.
  return expSum(p, select(lt(fabs(p), 800), rest, 0.0));
}

/// The power with the special cases of the C standard (annex F.10.4.4), from its magnitude.
V powEdges(V base, V exponent, V magnitude) {
  V whole = eq(floor(exponent), exponent), half = exponent * 0.5;
  V odd = whole & ne(floor(half), half);
  V negative = lt(toBits(base), toBits(base).ci(0));
  V result = select(negative & odd, -magnitude, magnitude);
  V undefined = lt(base, 0.0) & gt(base, -kInf) & bitNot(whole) & lt(fabs(exponent), kInf);
  result = select(undefined, kNan, result);
  if (base.elem() == Elem::F64) // the magnitude of float64 is NaN for 1^infinity
    result = select(eq(fabs(base), 1.0) & eq(fabs(exponent), kInf), 1.0, result);
  result = select(base.b().compare(LaneBuilder::Cmp::Unordered, base, exponent), base + exponent, result);
  return select(eq(exponent, 0.0) | eq(base, 1.0), 1.0, result);
}

/// |base|^exponent of float32. Here the logarithms of zero and infinity are finite, so the sign of the product decides
/// between zero and infinity.
V powMagnitude32(V base, V exponent) {
  V product = toF64(clampTo(exponent, -0x1p100, 0x1p100)) * log37(toF64(base)); // finite: no 0 times infinity
  V result = toF32(exp28(clampTo(product, -700, 700)));
  // Only for 0, infinity and NaN are the bits minus 1 at least those of the largest finite number.
  V bits = toBits(base);
  V special = base.b().compare(LaneBuilder::Cmp::UGe, bits - bits.ci(1), bits.ci(0x7f7fffff));
  return select(special, select(gt(toF32(product), 0.0), kInf, result.c(0.0)), result);
}

/// x modulo y, exactly, up to one multiple of y. Each iteration subtracts q y from x by fma, where q = trunc(x / y):
/// the rest is representable because q is the rounded quotient. Where the quotient overflows, y 2^k takes the place of
/// y.
V remainder(V x, V y) {
  V ay = fabs(y), tiny = lt(ay, 0x1p-200);
  V scaled = select(tiny, y * 0x1p1000 * 0x1p123, y * 0x1p1000 * 0x1p23);
  LaneBuilder::Values last = x.b().whileAny(
      {x}, [&](llvm::ArrayRef<V> v) { return ge(fabs(v[0]), ay) & lt(ay, kInf); },
      [&](llvm::ArrayRef<V> v) {
        V quotient = v[0] / y, over = eq(fabs(quotient), kInf) & lt(fabs(v[0]), kInf) & ne(y, 0.0);
        V divisor = select(over, scaled, y);
        V q = select(over, v[0] / divisor, trunc(quotient));
        V go = ge(fabs(v[0]), ay);
        return LaneBuilder::Values{select(go, fma(-q, divisor, v[0]), v[0])};
      });
  return select(eq(fabs(x), kInf) | isNan(y), kNan, last[0]);
}

/// remainder() of float32 in float64, where no quotient overflows and few take a second iteration. `y` is finite.
V remainder32(V x, V y) {
  V ay = fabs(y);
  auto step = [&](V rest) { return fma(-trunc(rest / y), y, rest); };
  return x.b().whileAny(
      {step(x)}, [&](llvm::ArrayRef<V> v) { return ge(fabs(v[0]), ay); },
      [&](llvm::ArrayRef<V> v) { return LaneBuilder::Values{step(v[0])}; })[0];
}

/// A float32 divisor in float64; an infinite one becomes a number larger than all dividends.
V divisor32(V y) { return clampTo(toF64(y), -0x1p200, 0x1p200); }

V mod32(V x, V y) {
  V divisor = divisor32(y), r = remainder32(toF64(x), divisor);
  V result = toF32(select(lt(r * divisor, 0.0), r + divisor, r));
  return select(eq(result, 0.0), copySign(result, y), result);
}

// A quotient that is not a whole number differs from every whole number by at least 2^-24 of itself, so rounding to
// float64 keeps the floor as long as more than the 24 bits of a float32 matter.
V floorDiv32(V x, V y) {
  V result = toF32(floor(toF64(x) / divisor32(y)));
  return select(eq(fabs(x), kInf) & ne(y, 0.0), kNan, result);
}

V signsDiffer(V r, V y) { return (lt(r, 0.0) & gt(y, 0.0)) | (gt(r, 0.0) & lt(y, 0.0)); }

} // namespace

V rsqrt(V x) { return 1.0 / sqrt(x); }

V pow(V base, V exponent) {
  bool single = base.elem() == Elem::F32;
  return powEdges(base, exponent, (single ? powMagnitude32 : powMagnitude)(fabs(base), exponent));
}

V mod(V x, V y) {
  if (x.elem() == Elem::F32)
    return mod32(x, y);
  V r = remainder(x, y);
  r = select(signsDiffer(r, y), r + y, r);
  return select(eq(r, 0.0), copySign(r, y), r);
}

// Follows Python: (x - r) / y is a whole number except for its rounding.
V floorDiv(V x, V y) {
  if (x.elem() == Elem::F32)
    return floorDiv32(x, y);
  V plain = x / y, r = remainder(x, y), quotient = (x - r) / y;
  quotient = select(signsDiffer(r, y), quotient - 1.0, quotient);
  V down = floor(quotient);
  V result = select(gt(quotient - down, 0.5), down + 1.0, down);
  result = select(eq(quotient, 0.0), copySign(quotient.c(0.0), plain), result);
  return select(eq(y, 0.0), plain, result);
}

} // namespace tess::compiler::vmath
