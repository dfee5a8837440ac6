//===- LaneConversion.cpp - types in memory and in computation -----------===//
#include "compiler/lanes/LaneConversion.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace tess::compiler {

Elem computeElem(DType dtype) {
  if (isFloat(dtype))
    return byteWidth(dtype) == 8 ? Elem::F64 : Elem::F32;
  if (isBool(dtype))
    return Elem::I1;
  static constexpr Elem ofBytes[] = {Elem::I8, Elem::I16, Elem::I32, Elem::I64};
  return ofBytes[llvm::Log2_64(byteWidth(dtype))];
}

Elem storedElem(DType dtype) {
  if (dtype == DType::Float16)
    return Elem::F16;
  return dtype == DType::BFloat16 ? Elem::I16 : computeElem(dtype);
}

V widen(V stored, DType dtype) {
  LaneBuilder &b = stored.b();
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

V narrow(V value, DType dtype) {
  LaneBuilder &b = value.b();
  if (dtype == DType::Float16)
    return b.convert(value, Elem::F16);
  if (dtype == DType::BFloat16)
    return b.convert(lshr(roundBFloat16Bits(value), 16), Elem::I16);
  return value;
}

V roundTo(V value, DType dtype) {
  LaneBuilder &b = value.b();
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
  V finite = select(isNan(x), 0.0, x);
  V inside = select(lt(finite, low), low, finite);
  inside = select(gt(inside, high), high, inside);
  Elem through = width == 64 ? Elem::I64 : Elem::I32; // which holds the smaller ones signed
  V result = b.convert(b.convert(inside, through, !isSigned && width >= 32), computeElem(to));
  if (width <= digits)
    return result;
  return select(ge(finite, end), result.ci(~uint64_t(0) >> (64 - bits)), result);
}

V castValue(V value, DType from, DType to) {
  LaneBuilder &b = value.b();
  if (from == to)
    return value;
  if (isBool(to))
    return isFloat(from) ? ne(value, 0.0) : b.compare(LaneBuilder::Cmp::Ne, value, value.ci(0));
  if (isFloat(from) && isFloat(to)) {
    bool narrowing = from == DType::Float64 && computeElem(to) == Elem::F32 && to != DType::Float32;
    return roundTo(narrowing ? roundToOdd(value) : b.convert(value, computeElem(to)), to);
  }
  if (isFloat(from))
    return floatToInt(value, to);
  if (!isFloat(to))
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
