//===- IntegerMath.cpp - integer functions without traps -----------------===//
#include "compiler/lanes/IntegerMath.h"

namespace tess::compiler::intmath {

using Bin = LaneBuilder::Bin;
using Cmp = LaneBuilder::Cmp;

static V less(V a, V b, bool isUnsigned) { return a.b().compare(isUnsigned ? Cmp::ULt : Cmp::Lt, a, b); }

V max(V a, V b, bool isUnsigned) { return select(less(b, a, isUnsigned), a, b); }
V min(V a, V b, bool isUnsigned) { return select(less(a, b, isUnsigned), a, b); }

V sign(V x, bool isUnsigned) {
  V one = select(eq(x, x.ci(0)), x.ci(0), x.ci(1));
  return isUnsigned ? one : select(lt(x, x.ci(0)), x.ci(~uint64_t(0)), one);
}

// The truncated quotient, for a divisor that is neither 0 nor -1. Up to 32 bits it is computed in floats, which vectors
// can divide: a float with more than twice the digits gives the exact quotient after truncation.
static V safeQuotient(V n, V d, bool isUnsigned) {
  LaneBuilder &b = n.b();
  if (n.elem() == Elem::I64)
    return b.binary(isUnsigned ? Bin::UDiv : Bin::SDiv, n, d);
  Elem wide = n.elem() == Elem::I32 ? Elem::F64 : Elem::F32;
  V a = b.convert(n, Elem::I32, isUnsigned), c = b.convert(d, Elem::I32, isUnsigned);
  bool isWhole = isUnsigned && n.elem() == Elem::I32; // uses the bit that is the sign of a signed one
  V quotient = b.convert(a, wide, isWhole) / b.convert(c, wide, isWhole);
  return b.convert(b.convert(quotient, Elem::I32, isWhole), n.elem());
}

// The quotient rounded towards minus infinity, and the remainder with the sign of the divisor; both are 0 for a divisor
// of 0.
static std::pair<V, V> divMod(V n, V d, bool isUnsigned) {
  V zero = n.ci(0), one = n.ci(1), isZero = eq(d, zero);
  V special = isZero;
  if (!isUnsigned)
    special = special | eq(d, n.ci(~uint64_t(0)));
  V q = safeQuotient(n, select(special, one, d), isUnsigned);
  if (!isUnsigned)
    q = select(special, zero - n, q);
  V r = n - q * d;
  if (!isUnsigned) {
    V fix = ne(r, zero) & lt(r ^ d, zero);
    q = select(fix, q - one, q);
    r = select(fix, r + d, r);
  }
  return {select(isZero, zero, q), select(isZero, zero, r)};
}

V floorDiv(V n, V d, bool isUnsigned) { return divMod(n, d, isUnsigned).first; }
V mod(V n, V d, bool isUnsigned) { return divMod(n, d, isUnsigned).second; }

V pow(V base, V exponent, bool isUnsigned) {
  LaneBuilder &b = base.b();
  if (exponent.isVector())
    base = b.splat(base);
  else if (base.isVector())
    exponent = b.splat(exponent);
  V zero = base.ci(0), one = base.ci(1), minusOne = base.ci(~uint64_t(0));
  LaneBuilder::Values last = b.whileAny(
      {one, base, exponent}, [&](llvm::ArrayRef<V> v) { return ne(v[2], zero); },
      [&](llvm::ArrayRef<V> v) {
        V odd = ne(v[2] & one, zero);
        return LaneBuilder::Values{select(odd, v[0] * v[1], v[0]), v[1] * v[1], lshr(v[2], 1)};
      });
  if (isUnsigned)
    return last[0];
  V alternating = select(ne(exponent & one, zero), minusOne, one);
  V inverse = select(eq(base, one), one, select(eq(base, minusOne), alternating, zero));
  return select(lt(exponent, zero), inverse, last[0]);
}

V shiftLeft(V x, V amount) {
  V limit = x.ci(bitWidth(x.elem())), inside = x.b().compare(Cmp::ULt, amount, limit);
  return select(inside, x.b().binary(Bin::Shl, x, select(inside, amount, x.ci(0))), x.ci(0));
}

V shiftRight(V x, V amount, bool isUnsigned) {
  unsigned width = bitWidth(x.elem());
  V inside = x.b().compare(Cmp::ULt, amount, x.ci(width));
  if (isUnsigned)
    return select(inside, x.b().binary(Bin::LShr, x, select(inside, amount, x.ci(0))), x.ci(0));
  return x.b().binary(Bin::AShr, x, select(inside, amount, x.ci(width - 1)));
}

} // namespace tess::compiler::intmath
