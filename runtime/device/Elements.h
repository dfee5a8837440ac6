//===- Elements.h - element types in C++ ------------------------*- C++ -*-===//
//
// From a DType at run time to a C++ type: storage, and the type that sums are
// kept in. Conversions of narrow floats round to nearest even.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "llvm/Support/ErrorHandling.h"

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

namespace tess::runtime {

/// bfloat16 storage.
struct BF16 {
  uint16_t bits;
};
/// bool storage: 0 or 1.
struct Bool8 {
  uint8_t value;
};
using F16 = _Float16; // F16C belongs to the floor of the build
/// float8 storage: sign, 4 bits of exponent and 3 of mantissa, or 5 and 2. Nothing computes with them.
struct F8E4M3 {
  uint8_t bits;
};
struct F8E5M2 {
  uint8_t bits;
};
template <typename T>
constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// An element as a number to compute with: narrow floats as float, bool as 0 or 1, others as they are.
inline float widen(BF16 v) { return std::bit_cast<float>(uint32_t(v.bits) << 16); }
inline float widen(F16 v) { return float(v); }
inline uint8_t widen(Bool8 v) { return v.value; }
inline float widen(F8E5M2 v) { return float(std::bit_cast<F16>(uint16_t(v.bits << 8))); }
inline float widen(F8E4M3 v) { // float16 has its subnormals, at 2^-8 of the value
  if ((v.bits & 0x7f) == 0x7f)
    return std::bit_cast<float>(uint32_t(v.bits & 0x80) << 24 | 0x7fc00000);
  return float(std::bit_cast<F16>(uint16_t((v.bits & 0x80) << 8 | (v.bits & 0x7f) << 7))) * 256;
}
template <typename T> T widen(T v) { return v; }

/// A float as the bits of a float8 with `kept` bits of mantissa and numbers down to 2^`least` that are not subnormal.
/// What rounds to more than `largest` becomes `beyond`.
inline uint8_t narrowFloat8(float v, unsigned kept, int least, uint8_t largest, uint8_t beyond, uint8_t nan) {
  uint8_t sign = uint8_t(std::bit_cast<uint32_t>(v) >> 24 & 0x80);
  float size = std::fabs(v);
  if (std::isnan(v))
    return sign | nan;
  if (size < std::ldexp(1.0f, least)) {
    float unit = std::ldexp(1.0f, least - int(kept) + 23); // of numbers this large, the last place is the format's
    return sign | uint8_t(std::bit_cast<uint32_t>(size + unit) - std::bit_cast<uint32_t>(unit));
  }
  unsigned dropped = 23 - kept;
  uint32_t bits = std::bit_cast<uint32_t>(size);
  uint32_t rounded = (bits + ((1u << (dropped - 1)) - 1) + (bits >> dropped & 1)) >> dropped;
  uint32_t code = rounded - (uint32_t(126 + least) << kept);
  return sign | (code > largest ? beyond : uint8_t(code));
}

/// A number as an element of T: floats round to nearest even, bool is "differs from 0".
template <typename T, typename A> T narrow(A v) {
  if constexpr (std::is_same_v<T, BF16>) {
    uint32_t bits = std::bit_cast<uint32_t>(float(v));
    if (std::isnan(float(v)))
      return BF16{uint16_t((bits >> 16) | 0x40)};
    return BF16{uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
  } else if constexpr (std::is_same_v<T, Bool8>) {
    return Bool8{uint8_t(v != A(0))};
  } else if constexpr (std::is_same_v<T, F8E4M3>) {
    return F8E4M3{narrowFloat8(float(v), 3, -6, 0x7e, 0x7f, 0x7f)};
  } else if constexpr (std::is_same_v<T, F8E5M2>) {
    return F8E5M2{narrowFloat8(float(v), 2, -14, 0x7b, 0x7c, 0x7e)};
  } else {
    return T(v);
  }
}

/// The type that a sum of products of T is kept in: float for narrow floats; integers wrap at their own width.
template <typename T> struct AccumulatorOf {
  using type = T; // of float and double
};
template <> struct AccumulatorOf<F16> {
  using type = float;
};
template <> struct AccumulatorOf<BF16> {
  using type = float;
};
template <> struct AccumulatorOf<Bool8> {
  using type = uint8_t;
};
template <> struct AccumulatorOf<int8_t> {
  using type = uint8_t; // unsigned: overflow wraps and is defined
};
template <> struct AccumulatorOf<int16_t> {
  using type = uint32_t; // not uint16_t: its products would promote to signed int
};
template <> struct AccumulatorOf<uint8_t> {
  using type = uint8_t;
};
template <> struct AccumulatorOf<uint16_t> {
  using type = uint32_t; // as of int16_t
};
template <> struct AccumulatorOf<int32_t> {
  using type = uint32_t;
};
template <> struct AccumulatorOf<int64_t> {
  using type = uint64_t;
};
template <> struct AccumulatorOf<F8E4M3> {
  using type = float;
};
template <> struct AccumulatorOf<F8E5M2> {
  using type = float;
};
/// AccumulatorOf<T>::type.
template <typename T> using Accumulator = typename AccumulatorOf<T>::type;

/// The product, of complex numbers that of the definition, without a second look at infinities.
template <typename T> T product(T a, T b) {
  if constexpr (kIsComplex<T>)
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else
    return T(a * b);
}

/// Calls fn with a value of the C++ type of `dtype`, a number or bool; only the type of the value has a meaning.
template <typename Fn> auto withType(DType dtype, Fn &&fn) {
  switch (dtype) {
  case DType::Float16:
    return fn(F16());
  case DType::BFloat16:
    return fn(BF16());
  case DType::Float32:
    return fn(float());
  case DType::Float64:
    return fn(double());
  case DType::Int8:
    return fn(int8_t());
  case DType::UInt8:
    return fn(uint8_t());
  case DType::Int16:
    return fn(int16_t());
  case DType::Int32:
    return fn(int32_t());
  case DType::Int64:
    return fn(int64_t());
  case DType::UInt16:
    return fn(uint16_t());
  case DType::UInt32:
    return fn(uint32_t());
  case DType::UInt64:
    return fn(uint64_t());
  case DType::Bool:
    return fn(Bool8());
  default:
    llvm_unreachable("a kernel that computes has no such operand");
  }
}

/// As withType, for floats alone.
template <typename Fn> auto withFloatType(DType dtype, Fn &&fn) {
  switch (dtype) {
  case DType::Float16:
    return fn(F16());
  case DType::BFloat16:
    return fn(BF16());
  case DType::Float32:
    return fn(float());
  case DType::Float64:
    return fn(double());
  default:
    llvm_unreachable("a kernel of floats has no such operand");
  }
}

/// As withType, for complex dtypes too.
template <typename Fn> auto withTypeOrComplex(DType dtype, Fn &&fn) {
  switch (dtype) {
  case DType::Complex64:
    return fn(std::complex<float>());
  case DType::Complex128:
    return fn(std::complex<double>());
  default:
    return withType(dtype, fn);
  }
}

/// As withType, for every dtype; what is quantized is the integers that are stored.
template <typename Fn> auto withAnyType(DType dtype, Fn &&fn) {
  switch (storageOf(dtype)) {
  case DType::Float8E4M3:
    return fn(F8E4M3());
  case DType::Float8E5M2:
    return fn(F8E5M2());
  default:
    return withTypeOrComplex(storageOf(dtype), fn);
  }
}

/// An element that is only moved.
struct Bits128 {
  uint64_t words[2];
};

/// Calls fn with a type of the element's width, up to 8 bytes an unsigned integer: for kernels that only move elements.
template <typename Fn> auto withWidth(DType dtype, Fn &&fn) {
  switch (byteWidth(dtype)) {
  case 1:
    return fn(uint8_t());
  case 2:
    return fn(uint16_t());
  case 4:
    return fn(uint32_t());
  case 8:
    return fn(uint64_t());
  default:
    return fn(Bits128());
  }
}

} // namespace tess::runtime
