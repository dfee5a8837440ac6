//===- DType.h - element types ----------------------------------*- C++ -*-===//
//
// The element types every layer shares, with their names, widths and families.
// The table is in DType.def; all that is here follows from it. A dtype is the
// value of its row; a quantized one has in the bits above the number of its
// scale and zero point (Quantization.h), so that it is one value to everybody
// who copies, compares or hashes it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <iterator>
#include <optional>

namespace tess {

/// Values are part of the file format, but for the upper bits of a quantized dtype, which are of this process.
enum class DType : uint32_t {
#define TESS_DTYPE(ENUMERATOR, VALUE, SHORT, NUMPY, MLIR, BYTES, FAMILY) ENUMERATOR = VALUE,
#include "ops/vocabulary/DType.def"
};
/// What elements are; bool is neither a float nor an integer, and a float8 no float: it is moved, saved and converted,
/// but nothing computes with it. Nor with what is quantized, nor with what has few bits.
enum class DTypeFamily : uint8_t { Float, SignedInt, UnsignedInt, Bool, Float8, Complex, Quantized, LowBit };

/// One row of the table.
struct DTypeInfo {
  DType dtype;
  const char *shortName, *numpyName, *mlirName;
  uint8_t bytes; // of one element in memory
  DTypeFamily family;
};
/// The rows, by the value of their dtype.
constexpr DTypeInfo kDTypes[] = {
#define TESS_DTYPE(ENUMERATOR, VALUE, SHORT, NUMPY, MLIR, BYTES, FAMILY)                                               \
  {DType::ENUMERATOR, SHORT, NUMPY, MLIR, BYTES, DTypeFamily::FAMILY},
#include "ops/vocabulary/DType.def"
};
constexpr unsigned kNumDTypes = std::size(kDTypes);
static_assert(
    [] {
      for (unsigned i = 0; i < kNumDTypes; ++i)
        if (kDTypes[i].dtype != DType(i))
          return false;
      return true;
    }(),
    "rows are in the order of their values");

/// The lower bits of a dtype are its row.
constexpr unsigned kKindBits = 8;
/// The row's dtype: of a quantized one without its parameters, of any other itself.
constexpr DType kindOf(DType d) { return DType(uint32_t(d) & ((1u << kKindBits) - 1)); }
/// The number of its parameters; 0: none.
constexpr uint32_t parametersOf(DType d) { return uint32_t(d) >> kKindBits; }
/// Whether a value of dtype `d` may stand where `declared` is: a kind without parameters allows any.
constexpr bool allows(DType declared, DType d) { return declared == d || declared == kindOf(d); }

/// A set of dtypes, one bit for each row.
using DTypeMask = uint32_t;
static_assert(kNumDTypes <= 32, "a set has a bit for each dtype");
/// The set of the kind of `d` alone, and of all of a family.
constexpr DTypeMask maskOf(DType d) { return DTypeMask(1) << unsigned(kindOf(d)); }
constexpr DTypeMask maskOf(DTypeFamily family) {
  DTypeMask mask = 0;
  for (unsigned i = 0; i < kNumDTypes; ++i)
    mask |= kDTypes[i].family == family ? maskOf(DType(i)) : 0;
  return mask;
}
constexpr DTypeMask kFloatMask = maskOf(DTypeFamily::Float);
constexpr DTypeMask kUnsignedIntMask = maskOf(DTypeFamily::UnsignedInt);
constexpr DTypeMask kIntMask = maskOf(DTypeFamily::SignedInt) | kUnsignedIntMask;
constexpr DTypeMask kBoolMask = maskOf(DTypeFamily::Bool);
constexpr DTypeMask kNumberMask = kFloatMask | kIntMask;
constexpr DTypeMask kFloat8Mask = maskOf(DTypeFamily::Float8);
constexpr DTypeMask kComplexMask = maskOf(DTypeFamily::Complex);
constexpr DTypeMask kQuantizedMask = maskOf(DTypeFamily::Quantized);
constexpr DTypeMask kLowBitMask = maskOf(DTypeFamily::LowBit);
/// All that can be moved; of these, all that stand for themselves; of these, all that have a zero.
constexpr DTypeMask kMovedMask = (DTypeMask(1) << kNumDTypes) - 1;
constexpr DTypeMask kUnquantizedMask = kMovedMask & ~kQuantizedMask;
constexpr DTypeMask kAnyMask = kUnquantizedMask & ~kLowBitMask;

/// The family of a dtype.
constexpr bool isFloat(DType d) { return maskOf(d) & kFloatMask; }
constexpr bool isInt(DType d) { return maskOf(d) & kIntMask; }
constexpr bool isUnsignedInt(DType d) { return maskOf(d) & kUnsignedIntMask; }
constexpr bool isBool(DType d) { return d == DType::Bool; }
constexpr bool isFloat8(DType d) { return maskOf(d) & kFloat8Mask; }
constexpr bool isComplex(DType d) { return maskOf(d) & kComplexMask; }
constexpr bool isQuantized(DType d) { return maskOf(d) & kQuantizedMask; }
constexpr bool isLowBit(DType d) { return maskOf(d) & kLowBitMask; }
/// Whether gradients go through values of it.
constexpr bool isDifferentiable(DType d) { return isFloat(d) || isComplex(d); }
/// A float that computes in float32 and is rounded where an operator ends.
constexpr bool isNarrowFloat(DType d) { return d == DType::Float16 || d == DType::BFloat16; }
/// Any dtype that computes in float32 and has a coarser grid.
constexpr bool computesWider(DType d) { return isNarrowFloat(d) || isFloat8(d); }
/// The dtype of a complex one's real and imaginary part; any other dtype itself.
constexpr DType partOf(DType d) {
  return d == DType::Complex64 ? DType::Float32 : d == DType::Complex128 ? DType::Float64 : d;
}
/// The complex dtype whose parts hold floats of dtype `d`; a complex dtype itself.
constexpr DType complexOf(DType d) { return partOf(d) == DType::Float64 ? DType::Complex128 : DType::Complex64; }

/// Bytes of one element in memory (bool is one byte).
constexpr int64_t byteWidth(DType d) { return kDTypes[unsigned(kindOf(d))].bytes; }

/// What is special to one quantized kind.
struct QuantizedKind {
  DType kind, storage;
  int32_t min, max; // of the numbers stored
  bool hasZeroPoint;
  const char *megengineName;
};
constexpr QuantizedKind kQuantizedKinds[] = {
#define TESS_DTYPE(...)
#define TESS_QUANTIZED(ENUMERATOR, STORAGE, MIN, MAX, ZERO_POINT, MEGENGINE)                                           \
  {DType::ENUMERATOR, DType::STORAGE, MIN, MAX, ZERO_POINT, MEGENGINE},
#include "ops/vocabulary/DType.def"
};
/// Of a quantized dtype.
constexpr const QuantizedKind &quantizedKind(DType d) {
  return kQuantizedKinds[unsigned(kindOf(d)) - unsigned(kQuantizedKinds[0].kind)];
}
static_assert(
    [] {
      for (const QuantizedKind &row : kQuantizedKinds)
        if (!isQuantized(row.kind) || &quantizedKind(row.kind) != &row || byteWidth(row.kind) != byteWidth(row.storage))
          return false;
      return maskOf(DTypeFamily::Quantized) >> unsigned(kQuantizedKinds[0].kind) ==
             (1u << std::size(kQuantizedKinds)) - 1;
    }(),
    "every quantized dtype says what it stores, in the order of their values");
/// Dtypes that are stored as `storage`, those of int8, and all of 8 bits.
constexpr DTypeMask storedAs(DType storage) {
  DTypeMask mask = maskOf(storage);
  for (const QuantizedKind &row : kQuantizedKinds)
    mask |= row.storage == storage ? maskOf(row.kind) : 0;
  return mask;
}
constexpr DTypeMask kSignedByteMask = storedAs(DType::Int8);
constexpr DTypeMask kByteMask = kSignedByteMask | storedAs(DType::UInt8);
/// The dtype of what lies in memory: integers where `d` is quantized or has few bits, else `d`.
constexpr DType storageOf(DType d) { return isQuantized(d) ? quantizedKind(d).storage : isLowBit(d) ? DType::Int8 : d; }

/// The largest number of a low-bit dtype, which has the odd ones from -lowBitEnd(d) on.
constexpr int lowBitEnd(DType d) {
  switch (d) {
#define TESS_DTYPE(...)
#define TESS_LOW_BIT(ENUMERATOR, BITS)                                                                                 \
  case DType::ENUMERATOR:                                                                                              \
    return (1 << BITS) - 1;
#include "ops/vocabulary/DType.def"
  default:
    return 0;
  }
}

/// The texts of a quantized dtype that has parameters; see Quantization.h.
llvm::StringRef quantizedName(DType d);
llvm::StringRef quantizedMlirName(DType d);

/// Short name used in messages and IR: "f32", "i32", "bool", "quint8<0.1:128>".
inline llvm::StringRef shortName(DType d) {
  return parametersOf(d) ? quantizedName(d) : llvm::StringRef(kDTypes[unsigned(d)].shortName);
}
/// NumPy's name: "float32"; what NumPy has not keeps its own.
inline llvm::StringRef numpyName(DType d) {
  return parametersOf(d) ? quantizedName(d) : llvm::StringRef(kDTypes[unsigned(d)].numpyName);
}
/// The element type in MLIR: integers are signless unless they are unsigned, bool is i1.
inline llvm::StringRef mlirName(DType d) {
  return parametersOf(d) ? quantizedMlirName(d) : llvm::StringRef(kDTypes[unsigned(d)].mlirName);
}
} // namespace tess
