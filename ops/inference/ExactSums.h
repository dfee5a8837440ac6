//===- ExactSums.h - sums of products of bytes within int32 -----*- C++ -*-===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess::integers {

/// Checks that the largest sum of `depth` products of operands 0 and 1 is an int32. A byte is at most 128 from zero as
/// int8, and 255 from any zero point; operands 2 and 3 are the zero points of 0 and 1, where they are given.
llvm::Error requireDepth(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, int64_t depth);

} // namespace tess::integers
