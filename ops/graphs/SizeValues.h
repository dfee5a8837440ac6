//===- SizeValues.h - tensors of sizes, as expressions ----------*- C++ -*-===//
//
// A program computes new shapes by the operators that it has: it slices shapes,
// joins them, multiplies sizes. While it is recorded, such small tensors of
// integers are followed as expressions of sizes, so that an operator that takes
// one as a shape gets what it says at every size. What an operator does to their
// elements is read from its record: the body of an elementwise one, the layout of
// a view, the regions of a movement, the graph of a composite.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess {

/// The elements of a tensor of integers in row-major order, numbers or expressions (SizeExpr.h).
using SizeValues = llvm::SmallVector<int64_t, 8>;
/// The most elements that are followed: a shape has fewer, and so have some side by side.
constexpr int64_t kMostSizeValues = 64;

/// The elements of the one result of `op` from those of all operands. Nothing where an operator does something else
/// than move integers and compute with them, or has several results.
std::optional<SizeValues> sizeValues(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                     llvm::ArrayRef<unsigned> segments, llvm::ArrayRef<SizeValues> values);

} // namespace tess
