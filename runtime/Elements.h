//===- Elements.h - element types in C++ ------------------------*- C++ -*-===//
//
// From a DType at run time to a C++ type: storage, and the type that sums are
// kept in. Conversions of narrow floats round to nearest even.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/DType.h"
#include "llvm/Support/ErrorHandling.h"

#include <bit>
#include <cmath>
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

/// An element as a number to compute with: narrow floats as float, bool as 0 or 1, others as they are.
inline float widen(BF16 v) { return std::bit_cast<float>(uint32_t(v.bits) << 16); }
inline float widen(F16 v) { return float(v); }
inline uint8_t widen(Bool8 v) { return v.value; }
template <typename T> T widen(T v) { return v; }

/// A number as an element of T: floats round to nearest even, bool is "differs from 0".
template <typename T, typename A> T narrow(A v) {
  if constexpr (std::is_same_v<T, BF16>) {
    uint32_t bits = std::bit_cast<uint32_t>(float(v));
    if (std::isnan(float(v)))
      return BF16{uint16_t((bits >> 16) | 0x40)};
    return BF16{uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
  } else if constexpr (std::is_same_v<T, Bool8>) {
    return Bool8{uint8_t(v != 0)};
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
/// AccumulatorOf<T>::type.
template <typename T> using Accumulator = typename AccumulatorOf<T>::type;

/// Calls fn with a value of the C++ type of `dtype`; only the type of the value has a meaning.
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
  }
  llvm_unreachable("dtype out of range");
}

/// Calls fn with an unsigned integer of the element's width: for kernels that only move elements.
template <typename Fn> auto withWidth(DType dtype, Fn &&fn) {
  switch (byteWidth(dtype)) {
  case 1:
    return fn(uint8_t());
  case 2:
    return fn(uint16_t());
  case 4:
    return fn(uint32_t());
  default:
    return fn(uint64_t());
  }
}

} // namespace tess::runtime
