//===- Indices.h - integer operands that index ------------------*- C++ -*-===//
#pragma once

#include "ops/Error.h"
#include "runtime/KernelTable.h"

namespace tess::runtime::cpu {

/// Counts a negative index from the end; false when the index is outside an axis of `size`.
inline bool wrapIndex(int64_t &index, int64_t size) {
  index += index < 0 ? size : 0;
  return index >= 0 && index < size;
}

/// OutOfRange for an index outside an axis of `size`; `index`: as the user gave it.
inline llvm::Error indexError(llvm::StringRef op, int64_t index, int64_t size) {
  if (size == 0)
    return makeError(ErrorCode::OutOfRange,
                     op + ": index must not point into an empty axis, got " + llvm::Twine(index));
  return makeError(ErrorCode::OutOfRange, op + ": index must be in [" + llvm::Twine(-size) + ", " +
                                              llvm::Twine(size - 1) + "], got " + llvm::Twine(index));
}

} // namespace tess::runtime::cpu
