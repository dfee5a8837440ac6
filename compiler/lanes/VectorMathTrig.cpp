//===- VectorMathTrig.cpp - sine, cosine, tangent ------------------------===//
//
// x = n pi/2 + r, |r| <= pi/4. Up to a bound the reduction is Cody and Waite's
// in float64 with fma and three parts of pi/2; beyond it Payne and Hanek's from
// 1280 bits of 2/pi, one element at a time because such arguments are rare.
// float32 reduces in float64 (two parts of pi/2, and 128 bits of 2/pi where
// they are not enough) and uses the polynomials of Cephes' sinf and cosf;
// float64 uses fdlibm's kernels with the low part of r.
//
//===----------------------------------------------------------------------===//
#include "compiler/lanes/VectorMath.h"
#include "compiler/lanes/VectorMathConstants.h"

namespace tess::compiler::vmath {

namespace {

// Below this bound |n| * pio2[0] is exact in fma, and the third part of pi/2 is the last one needed.
constexpr double kMedium = 0x1p20;

/// x = n pi/2 + hi + lo; only the two low bits of n are meaningful.
struct Reduced {
  V hi, lo, n;
};

Reduced reduceMedium(V x) {
  V shifted = fma(x, kInversePio2, x.c(0x1.8p52));
  V n = shifted - 0x1.8p52;
  V t = fma(n, -kPio2[0], x);
  V p = n * kPio2[1], error = fma(n, kPio2[1], -p);
  // Two-sum of t and -p (Knuth), because t may be the smaller one.
  V hi = t - p, back = hi - t;
  V lo = (t - (hi - back)) - (p + back);
  lo = fma(n, -kPio2[2], lo - error);
  V sum = hi + lo;
  return {sum, (hi - sum) + lo, toBits(shifted)};
}

V funnel(V high, V low, V shift) {
  LaneBuilder &b = high.b();
  using Bin = LaneBuilder::Bin;
  // Two shifts to the right, because a shift by 64 is undefined.
  V right = b.binary(Bin::LShr, lshr(low, 1), high.ci(63) - shift);
  return b.binary(Bin::Shl, high, shift) | right;
}

V unsignedToFloat(V word) { return word.b().convert(word, Elem::F64, true); }

/// Payne and Hanek's reduction of one number in [2^20, inf), with 192 bits of 2/pi from where their product with the
/// mantissa is below 4.
Reduced reduceLargeScalar(V x) {
  LaneBuilder &b = x.b();
  mlir::Value table = b.table("tess_two_over_pi", kTwoOverPi);
  V bits = toBits(x);
  V mantissa = (bits & bits.ci(0x000fffffffffffff)) | bits.ci(0x0010000000000000);
  V field = lshr(bits, 52) & bits.ci(0x7ff);
  // x = mantissa 2^e with e = field - 1075. Bit k of the table weighs 2^-(k+1); the first bit needed has weight
  // 2^(1-e).
  V start = field - bits.ci(1077); // may be negative: leading zeros
  V first = start + bits.ci(64), word = lshr(first, 6), shift = first & bits.ci(63);
  V w[4];
  for (unsigned i = 0; i < 4; ++i) {
    V at = word + bits.ci(uint64_t(int64_t(i) - 1)), safe = select(lt(at, bits.ci(0)), bits.ci(0), at);
    V loaded = b.load(b.address(table, safe, Elem::I64), Elem::I64, false);
    w[i] = select(lt(at, bits.ci(0)), bits.ci(0), loaded);
  }
  V a0 = funnel(w[0], w[1], shift), a1 = funnel(w[1], w[2], shift), a2 = funnel(w[2], w[3], shift);
  // Bits 64 to 191 of mantissa * (a0 a1 a2).
  V low = mantissa * a1, carry = b.mulHighU64(mantissa, a2), mid = low + carry;
  V overflow = b.convert(b.compare(LaneBuilder::Cmp::ULt, mid, low), Elem::I64);
  V high = mantissa * a0 + b.mulHighU64(mantissa, a1) + overflow;
  // Two integer bits are on top; round to the nearest quarter turn and keep the signed rest.
  V n = lshr(high + high.ci(uint64_t(1) << 61), 62);
  high = high - shl(n, 62);
  V negative = lt(high, high.ci(0));
  V borrow = select(eq(mid, mid.ci(0)), mid.ci(0), mid.ci(1));
  V h = select(negative, high.ci(0) - high - borrow, high), m = select(negative, mid.ci(0) - mid, mid);
  V zeros = b.unary(LaneBuilder::Un::CountLeadingZeros, h | h.ci(1));
  V top = funnel(h, m, zeros), rest = b.binary(LaneBuilder::Bin::Shl, m, zeros);
  V scale = fromBits(shl(zeros.ci(1023 - 62) - zeros, 52));
  V hi = unsignedToFloat(lshr(top, 11)) * 0x1p11 * scale;
  V lo = (unsignedToFloat(top & top.ci(0x7ff)) + unsignedToFloat(lshr(rest, 11)) * 0x1p-53) * scale;
  // Multiply by pi/2 in two parts.
  V r = hi * kPio2[0], low2 = fma(hi, kPio2[0], -r) + fma(hi, kPio2[1], lo * kPio2[0]);
  V sign = select(negative, -1.0, r.c(1.0));
  V sum = r + low2;
  return {sum * sign, ((r - sum) + low2) * sign, n};
}

Reduced fixSign(Reduced reduced, V x) {
  V negative = lt(x, 0.0);
  return {select(negative, -reduced.hi, reduced.hi), select(negative, -reduced.lo, reduced.lo),
          select(negative, reduced.n.ci(0) - reduced.n, reduced.n)};
}

/// The values that `one` returns for each lane; `elems` has their types.
LaneBuilder::Values laneByLane(V x, llvm::ArrayRef<Elem> elems, llvm::function_ref<LaneBuilder::Values(V)> one) {
  if (!x.isVector())
    return one(x);
  LaneBuilder &b = x.b();
  mlir::Value source = b.stackBuffer(x.elem(), 1, true);
  b.store(x, source);
  llvm::SmallVector<mlir::Value> results;
  for (Elem elem : elems)
    results.push_back(b.stackBuffer(elem, 1, true));
  b.forLoop(b.index(0), b.index(kLanes), b.index(1), {}, [&](V lane, llvm::ArrayRef<V>) {
    LaneBuilder::Values values = one(b.load(b.address(source, lane, x.elem()), x.elem(), false));
    for (auto [value, buffer] : llvm::zip_equal(values, results))
      b.store(value, b.address(buffer, lane, value.elem()));
    return LaneBuilder::Values();
  });
  LaneBuilder::Values all;
  for (auto [elem, buffer] : llvm::zip_equal(elems, results))
    all.push_back(b.load(buffer, elem, true));
  return all;
}

/// `fast`, except in the lanes of `large`, which get the values that `one` returns for x.
LaneBuilder::Values orLaneByLane(V x, V large, const LaneBuilder::Values &fast,
                                 llvm::function_ref<LaneBuilder::Values(V)> one) {
  return x.b().ifThen(x.b().anyLane(large), fast, [&] {
    llvm::SmallVector<Elem, 4> elems;
    for (V value : fast)
      elems.push_back(value.elem());
    // Lanes that do not need `one` get a harmless number.
    LaneBuilder::Values slow = laneByLane(select(large, x, 0x1p30), elems, one);
    for (auto [value, other] : llvm::zip_equal(slow, fast))
      value = select(large, value, other);
    return slow;
  });
}

/// The reduction of float64. Infinity and NaN give NaN, also in reduceMedium().
Reduced reduce64(V x) {
  Reduced fast = reduceMedium(x);
  V large = gt(fabs(x), kMedium) & lt(fabs(x), kInf);
  LaneBuilder::Values all = orLaneByLane(x, large, {fast.hi, fast.lo, fast.n}, [](V element) {
    Reduced one = fixSign(reduceLargeScalar(fabs(element)), element);
    return LaneBuilder::Values{one.hi, one.lo, one.n};
  });
  return {all[0], all[1], all[2]};
}

/// Payne and Hanek's reduction of one float32 of magnitude 2^29 or more: its 24 bits times 96 bits of 2/pi from where
/// the product is below 4. The error is 2^-62 of a quarter turn, and no float32 is nearer than about 2^-30 to a
/// multiple of one.
LaneBuilder::Values reduceLarge32(V x) {
  LaneBuilder &b = x.b();
  mlir::Value table = b.table("tess_two_over_pi", kTwoOverPi);
  V bits = b.convert(toBits(fabs(x)), Elem::I64);
  V mantissa = (bits & bits.ci(0x7fffff)) | bits.ci(0x800000);
  // |x| = mantissa 2^e with e = field - 150; the first bit of the table that is needed has weight 2^(1-e) = 2^-(e-2+1).
  V first = lshr(bits, 23) - bits.ci(152), shift = first & bits.ci(63);
  V w[3];
  for (unsigned i = 0; i < 3; ++i)
    w[i] = b.load(b.address(table, lshr(first, 6) + bits.ci(i), Elem::I64), Elem::I64, false);
  V turns = mantissa * funnel(w[0], w[1], shift) + lshr(mantissa * lshr(funnel(w[1], w[2], shift), 32), 32);
  V n = lshr(turns + turns.ci(uint64_t(1) << 61), 62);
  V r = b.convert(turns - shl(n, 62), Elem::F64) * (0x1p-62 * kPio2[0]);
  V negative = lt(x, 0.0);
  return {toF32(select(negative, -r, r)), b.convert(select(negative, n.ci(0) - n, n), Elem::I32)};
}

/// The reduction of float32: only hi and n, both of 32 bits.
Reduced reduce32(V x) {
  V d = toF64(x), shifted = fma(d, kInversePio2, d.c(0x1.8p52)), n = shifted - 0x1.8p52;
  V r = fma(n, -kPio2[1], fma(n, -kPio2[0], d));
  V large = ge(fabs(x), 0x1p29) & lt(fabs(x), kInf);
  LaneBuilder::Values all =
      orLaneByLane(x, large, {toF32(r), x.b().convert(toBits(shifted), Elem::I32)}, reduceLarge32);
  return {all[0], V(), all[1]};
}

V sinKernel(const Reduced &r) {
  V x = r.hi, z = x * x;
  if (x.elem() == Elem::F32) {
    V p = polynomial(z, kSin32);
    return fma(p * z, x, x);
  }
  V p = polynomial(z, kSin64);
  V cube = z * x;
  return x - ((z * (r.lo * 0.5 - cube * p) - r.lo) + cube * kSinCube64);
}

V cosKernel(const Reduced &r) {
  V x = r.hi, z = x * x;
  if (x.elem() == Elem::F32) {
    V p = polynomial(z, kCos32);
    return fma(p * z, z, fma(z, -0.5, x.c(1.0)));
  }
  V p = polynomial(z, kCos64) * z;
  V half = z * 0.5, w = 1.0 - half;
  return w + (((1.0 - w) - half) + (z * p - x * r.lo));
}

struct SinCos {
  V sin, cos, n;
};

SinCos sinCos(V x) {
  Reduced r = x.elem() == Elem::F32 ? reduce32(x) : reduce64(x);
  return {sinKernel(r), cosKernel(r), r.n};
}

V isOdd(V n) { return ne(n & n.ci(1), n.ci(0)); }

/// Negates where bit 1 of n is set.
V signByQuadrant(V value, V n) {
  unsigned up = bitWidth(n.elem()) - 2;
  return fromBits(toBits(value) ^ (shl(n & n.ci(2), up)));
}

V cosByQuadrant(const SinCos &both) {
  return signByQuadrant(select(isOdd(both.n), both.sin, both.cos), both.n + both.n.ci(1));
}

} // namespace

V sin(V x) {
  SinCos both = sinCos(x);
  V result = signByQuadrant(select(isOdd(both.n), both.cos, both.sin), both.n);
  return select(eq(x, 0.0), x, result);
}

V cos(V x) { return cosByQuadrant(sinCos(x)); }

// The argument counts turns, so the rest of a division into quarter turns is exact.
V cosTurn(V x) {
  bool single = x.elem() == Elem::F32;
  double magic = single ? 0x1.8p23 : 0x1.8p52;
  V shifted = fma(x, 4.0, x.c(magic)), rest = fma(x, 4.0, -(shifted - magic));
  V hi = rest * kPio2[0], lo = single ? V() : fma(rest, kPio2[1], fma(rest, kPio2[0], -hi));
  Reduced r{hi, lo, toBits(shifted)};
  return cosByQuadrant({sinKernel(r), cosKernel(r), r.n});
}

V tan(V x) {
  SinCos both = sinCos(x);
  V odd = isOdd(both.n);
  V result = select(odd, -both.cos, both.sin) / select(odd, both.sin, both.cos);
  return select(eq(x, 0.0), x, result);
}

} // namespace tess::compiler::vmath
