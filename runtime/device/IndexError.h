//===- IndexError.h - an index outside of its axis --------------*- C++ -*-===//
#pragma once

#include "ops/vocabulary/Error.h"

namespace tess::runtime {

/// OutOfRange for an index outside an axis of `size`; `index`: as the kernel read it. `caller` is an operator, which
/// the user gave the index as it is, or "operator: operand", whose numbers count from 0 and are `size` lower below it
/// (FromZero of ops/records/Index.td).
inline llvm::Error indexError(llvm::StringRef caller, int64_t index, int64_t size) {
  const bool countsFromZero = caller.contains(": ");
  std::string what = caller.str() + (countsFromZero ? "" : ": index");
  int64_t given = countsFromZero && index < 0 ? index + size : index;
  if (size == 0)
    return makeError(ErrorCode::OutOfRange, what + " must not point into an empty axis, got " + llvm::Twine(given));
  return makeError(ErrorCode::OutOfRange, what + " must be in [" + llvm::Twine(countsFromZero ? 0 : -size) + ", " +
                                              llvm::Twine(size - 1) + "], got " + llvm::Twine(given));
}

} // namespace tess::runtime
