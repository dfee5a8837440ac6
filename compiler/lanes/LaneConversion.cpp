//===- LaneConversion.cpp - types in memory and in computation -----------===//
#include "compiler/lanes/LaneConversion.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

namespace tess::compiler {

Elem computeElem(DType dtype) {
  if (isFloat(dtype) || isFloat8(dtype))
    return byteWidth(dtype) == 8 ? Elem::F64 : Elem::F32;
  if (isBool(dtype))
    return Elem::I1;
  static constexpr Elem ofBytes[] = {Elem::I8, Elem::I16, Elem::I32, Elem::I64, Elem::I128};
  return ofBytes[llvm::Log2_64(byteWidth(dtype))];
}

Elem storedElem(DType dtype) {
  if (dtype == DType::Float16)
    return Elem::F16;
  if (isFloat8(dtype))
    return Elem::I8;
  return dtype == DType::BFloat16 ? Elem::I16 : computeElem(dtype);
}

// Both formats are read through float16, which has their subnormals: float8_e5m2 is its upper byte, and float8_e4m3fn
// 2^-8 of its value, because the exponent has a bit less.
static V widenFloat8(V stored, DType dtype) {
  LaneBuilder &b = stored.b();
  V bits = b.convert(stored, Elem::I16, true);
  auto half = [&](V word) { return b.convert(b.bitcast(word, Elem::F16), Elem::F32); };
  if (dtype == DType::Float8E5M2)
    return half(shl(bits, 8));
  V size = bits & bits.ci(0x7f), value = half(shl(bits & bits.ci(0x80), 8) | shl(size, 7)) * 256.0;
  return select(eq(size, size.ci(0x7f)), copySign(value.c(std::numeric_limits<double>::quiet_NaN()), value), value);
}

V widen(V stored, DType dtype) {
  LaneBuilder &b = stored.b();
  if (isFloat8(dtype))
    return widenFloat8(stored, dtype);
  if (dtype == DType::Float16)
    return b.convert(stored, Elem::F32);
  if (dtype == DType::BFloat16)
    return fromBits(shl(b.convert(stored, Elem::I32, true), 16));
  return stored;
}

// Rounds to nearest even by integer operations: without AVX512-BF16 the conversion would be a library call.
static V roundBFloat16Bits(V x) {
  V bits = toBits(x);
  V even = lshr(bits, 16) & bits.ci(1);
  V rounded = bits + bits.ci(0x7fff) + even;
  return select(isNan(x), bits | bits.ci(0x400000), rounded);
}

namespace {
/// How a float8 is written: the codes of the largest number, of what is beyond it, and of NaN, but for the sign.
struct Float8Format {
  unsigned mantissaBits;
  int minExponent;
  uint64_t largest, beyond, nan;
};
} // namespace

static V narrowFloat8(V x, DType dtype) {
  LaneBuilder &b = x.b();
  const Float8Format f =
      dtype == DType::Float8E4M3 ? Float8Format{3, -6, 0x7e, 0x7f, 0x7f} : Float8Format{2, -14, 0x7b, 0x7c, 0x7e};
  V size = fabs(x), bits = toBits(size);
  unsigned dropped = 23 - f.mantissaBits;
  V rounded = bits + bits.ci((uint64_t(1) << (dropped - 1)) - 1) + (lshr(bits, dropped) & bits.ci(1));
  V normal = lshr(rounded, dropped) - bits.ci(uint64_t(126 + f.minExponent) << f.mantissaBits);
  // A number whose last place is that of the format's subnormals: adding it rounds.
  V unit = size.c(std::ldexp(1.0, f.minExponent - int(f.mantissaBits) + 23));
  V code = select(lt(size, std::ldexp(1.0, f.minExponent)), toBits(size + unit) - toBits(unit), normal);
  code = select(gt(code, code.ci(f.largest)), code.ci(f.beyond), code);
  code = select(isNan(x), code.ci(f.nan), code);
  return b.convert(code | lshr(signBit(x), 24), Elem::I8);
}

V narrow(V value, DType dtype) {
  LaneBuilder &b = value.b();
  if (isFloat8(dtype))
    return narrowFloat8(value, dtype);
  if (dtype == DType::Float16)
    return b.convert(value, Elem::F16);
  if (dtype == DType::BFloat16)
    return b.convert(lshr(roundBFloat16Bits(value), 16), Elem::I16);
  return value;
}

V roundTo(V value, DType dtype) {
  LaneBuilder &b = value.b();
  if (isFloat8(dtype))
    return widenFloat8(narrowFloat8(value, dtype), dtype);
  if (dtype == DType::Float16)
    return b.convert(b.convert(value, Elem::F16), Elem::F32);
  if (dtype == DType::BFloat16) {
    V bits = roundBFloat16Bits(value);
    return fromBits(bits & bits.ci(0xffff0000));
  }
  return value;
}

// Converts float64 to float32 by truncation with a sticky last bit ("round to odd"): a second rounding to a narrower
// type then gives the result of a single one (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
// 2008).
static V roundToOdd(V x) {
  LaneBuilder &b = x.b();
  V near = b.convert(x, Elem::F32), back = b.convert(near, Elem::F64);
  V bits = toBits(near);
  V down = select(gt(fabs(back), fabs(x)), bits - bits.ci(1), bits);
  V inexact = lt(back, x) | gt(back, x);
  return fromBits(select(inexact, down | bits.ci(1), bits));
}

static V floatToInt(V x, DType to) {
  LaneBuilder &b = x.b();
  unsigned width = bitWidth(computeElem(to));
  bool isSigned = !isUnsigned(to);
  unsigned bits = isSigned ? width - 1 : width; // of the largest value
  double low = isSigned ? -std::ldexp(1.0, bits) : 0, end = std::ldexp(1.0, bits);
  unsigned digits = x.elem() == Elem::F32 ? 24 : 53;
  // The largest value of the float type below `end` that truncates into range.
  double high = width <= digits ? end - 1 : end - std::ldexp(1.0, bits - digits);
  if (isQuantized(to) && width <= digits) { // a kind may store fewer numbers than its bytes could
    low = quantizedKind(to).min;
    high = quantizedKind(to).max;
  }
  if (isLowBit(to))
    high = lowBitEnd(to); // of a size, which is not negative
  V finite = select(isNan(x), 0.0, x);
  V inside = select(lt(finite, low), low, finite);
  inside = select(gt(inside, high), high, inside);
  Elem through = width == 64 ? Elem::I64 : Elem::I32; // which holds the smaller ones signed
  V result = b.convert(b.convert(inside, through, !isSigned && width >= 32), computeElem(to));
  if (width <= digits)
    return result;
  return select(ge(finite, end), result.ci(~uint64_t(0) >> (64 - bits)), result);
}

/// The nearest of the odd numbers that a low-bit dtype has; even ones go away from zero, and 0 and NaN become 1.
static V floatToLowBit(V x, DType to) {
  V size = floatToInt(fabs(x), to), odd = size | size.ci(1);
  return select(lt(x, 0.0), odd.ci(0) - odd, odd);
}

/// The integer that holds one part of a complex value.
static Elem partBits(V value) { return value.elem() == Elem::I64 ? Elem::I32 : Elem::I64; }

V realPart(V value) { return fromBits(value.b().convert(value, partBits(value))); }

V imagPart(V value) { return fromBits(value.b().convert(lshr(value, bitWidth(partBits(value))), partBits(value))); }

V complexOf(V real, V imag) {
  LaneBuilder &b = real.b();
  Elem whole = real.elem() == Elem::F32 ? Elem::I64 : Elem::I128;
  V low = b.convert(toBits(real), whole, true), high = b.convert(toBits(imag), whole, true);
  return low | shl(high, bitWidth(real.elem()));
}

V numberOf(LaneBuilder &b, double number, DType dtype) {
  V part = b.constant(computeElem(partOf(dtype)), false, number);
  return isComplex(dtype) ? complexOf(part, part.c(0)) : part;
}

/// Where one of the dtypes is complex.
static V castComplex(V value, DType from, DType to) {
  V real = isComplex(from) ? realPart(value) : value;
  if (isComplex(from) && isBool(to))
    return ne(real, 0.0) | ne(imagPart(value), 0.0);
  V castReal = castValue(real, partOf(from), partOf(to));
  if (!isComplex(to))
    return castReal;
  return complexOf(castReal, isComplex(from) ? castValue(imagPart(value), partOf(from), partOf(to)) : castReal.c(0));
}

/// Whether values of `dtype` are floats in registers.
static bool isReal(DType dtype) { return isFloat(dtype) || isFloat8(dtype); }

V castValue(V value, DType from, DType to) {
  LaneBuilder &b = value.b();
  if (from == to)
    return value;
  if (isComplex(from) || isComplex(to))
    return castComplex(value, from, to);
  if (isBool(to))
    return isReal(from) ? ne(value, 0.0) : b.compare(LaneBuilder::Cmp::Ne, value, value.ci(0));
  if (isReal(from) && isReal(to)) {
    bool narrowing = from == DType::Float64 && computeElem(to) == Elem::F32 && to != DType::Float32;
    return roundTo(narrowing ? roundToOdd(value) : b.convert(value, computeElem(to)), to);
  }
  if (isLowBit(to)) // an integer too large for a float32 stays beyond the ends
    return floatToLowBit(isReal(from) ? value : castValue(value, from, DType::Float32), to);
  if (isReal(from))
    return floatToInt(value, to);
  if (!isReal(to))
    return b.convert(value, computeElem(to), isUnsigned(from));
  if (bitWidth(value.elem()) < 32)
    value = b.convert(value, Elem::I32, isUnsigned(from));
  return roundTo(b.convert(value, computeElem(to), isUnsigned(from)), to);
}

Elem rawElem(DType dtype) {
  Elem elem = storedElem(dtype);
  return elem == Elem::I1 ? Elem::I8 : elem;
}

V fromRaw(V raw, DType dtype) {
  return isBool(dtype) ? raw.b().compare(LaneBuilder::Cmp::Ne, raw, raw.ci(0)) : widen(raw, dtype);
}

V toRaw(V value, DType dtype) { return isBool(dtype) ? value.b().convert(value, Elem::I8) : narrow(value, dtype); }

} // namespace tess::compiler
