//===- IndexError.h - an index outside of its axis --------------*- C++ -*-===//
#pragma once

#include "ops/vocabulary/Error.h"

namespace tess::runtime {

/// OutOfRange for an index outside an axis of `size`; `index`: as the user gave it.
inline llvm::Error indexError(llvm::StringRef op, int64_t index, int64_t size) {
  if (size == 0)
    return makeError(ErrorCode::OutOfRange,
                     op + ": index must not point into an empty axis, got " + llvm::Twine(index));
  return makeError(ErrorCode::OutOfRange, op + ": index must be in [" + llvm::Twine(-size) + ", " +
                                              llvm::Twine(size - 1) + "], got " + llvm::Twine(index));
}

} // namespace tess::runtime
