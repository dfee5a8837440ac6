//===- DType.h - element types ----------------------------------*- C++ -*-===//
//
// The element types every layer shares, with their names and widths.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace tess {

/// Values are part of the file format: append, never renumber.
enum class DType : uint8_t {
  Float16 = 0,
  BFloat16 = 1,
  Float32 = 2,
  Float64 = 3,
  Int8 = 4,
  UInt8 = 5,
  Int16 = 6,
  Int32 = 7,
  Int64 = 8,
  Bool = 9,
};
constexpr unsigned kNumDTypes = 10;

/// A set of dtypes, one bit for each.
using DTypeMask = uint16_t;
/// The set of `d` alone.
constexpr DTypeMask maskOf(DType d) { return DTypeMask(1u << unsigned(d)); }
constexpr DTypeMask kFloatMask = 0x00F;
constexpr DTypeMask kSignedIntMask = 0x1D0;
constexpr DTypeMask kIntMask = 0x1F0;
constexpr DTypeMask kBoolMask = 0x200;
constexpr DTypeMask kAnyMask = 0x3FF;

/// The family of a dtype: integers include UInt8, and bool is neither a float nor an integer.
constexpr bool isFloat(DType d) { return maskOf(d) & kFloatMask; }
constexpr bool isInt(DType d) { return maskOf(d) & kIntMask; }
constexpr bool isBool(DType d) { return d == DType::Bool; }

/// Bytes of one element in memory (bool is one byte).
constexpr int64_t byteWidth(DType d) {
  constexpr int64_t widths[kNumDTypes] = {2, 2, 4, 8, 1, 1, 2, 4, 8, 1};
  return widths[unsigned(d)];
}

/// Short name used in messages and IR: "f32", "i32", "bool".
llvm::StringRef shortName(DType d);
/// NumPy's name: "float32"; bfloat16 keeps its own.
llvm::StringRef numpyName(DType d);
/// Accepts both names; nullopt when unknown.
std::optional<DType> parseDType(llvm::StringRef name);

} // namespace tess
