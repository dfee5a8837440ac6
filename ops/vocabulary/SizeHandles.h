//===- SizeHandles.h - numbers that stand for sizes -------------*- C++ -*-===//
//
// A size is an int64: a number, unknown, or the handle of an expression
// (SizeExpr.h), which lies below every number that a size or an index can be.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace tess {

/// An unknown dimension. Equal to mlir::ShapedType::kDynamic, so that types convert without a table.
constexpr int64_t kUnknown = INT64_MIN;
/// Highest rank any operator accepts.
constexpr unsigned kMaxRank = 8;

namespace sizes {

/// Handles of expressions are between kUnknown and this.
constexpr int64_t kSymbolicEnd = INT64_MIN + (int64_t(1) << 32);

/// Whether `size` stands for an expression that is no number.
inline bool isSymbolic(int64_t size) { return size < kSymbolicEnd && size != kUnknown; }
inline bool isSymbolic(llvm::ArrayRef<int64_t> sizes) {
  for (int64_t size : sizes)
    if (isSymbolic(size))
      return true;
  return false;
}

/// Most terms of an expression; with those of its functions' operands, most parts.
constexpr unsigned kMostTerms = 64, kMostParts = 256;

} // namespace sizes
} // namespace tess
