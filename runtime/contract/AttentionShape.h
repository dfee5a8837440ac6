//===- AttentionShape.h - sizes and places of attention ---------*- C++ -*-===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tess::runtime::contract {

/// Where the elements of a mask lie, in elements of its dtype: bool says which keys take part, floats are added.
struct MaskForm {
  DType dtype;
  int64_t rowStride, columnStride; // 1 or 0, and 0 of an axis that repeats
  llvm::SmallVector<int64_t, 1> at;
};

/// Queries (queries, depth), keys (keys, depth) and values (keys, width) of one float dtype, row-major.
struct AttentionShape {
  DType dtype;
  int64_t queries, keys, depth, width;
  double scale; // of scores
  bool isCausal;
  /// Where matrix number i of the batch begins in each operand, in elements.
  llvm::SmallVector<int64_t, 1> queryAt, keyAt, valueAt;
  std::optional<MaskForm> mask = std::nullopt;

  int64_t numMatrices() const { return int64_t(queryAt.size()); }
  /// Multiplications of scores and of results, which may be more than an integer holds.
  double products() const { return double(numMatrices() * queries) * double(keys) * double(depth + width); }
  /// Keys that queries up to number `last` see, of those before `end`.
  int64_t seenBy(int64_t last, int64_t end) const { return isCausal ? std::min(last + 1, end) : end; }
};

} // namespace tess::runtime::contract
