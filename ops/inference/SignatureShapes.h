//===- SignatureShapes.h - shapes that a signature gives --------*- C++ -*-===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess {

/// Whether `op` uses the guardedDims of `pattern`.
inline bool isGuarded(const OpDef &op, const OperandPattern &pattern) {
  return pattern.guardAttr >= 0 && op.attr(unsigned(pattern.guardAttr)).boolean();
}

/// Shapes of the results. `operands` is flat, segmented by `segments` (operands per ODS group).
llvm::Expected<llvm::SmallVector<Shape, 4>> inferBySignature(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                                             llvm::ArrayRef<unsigned> segments);

} // namespace tess
