//===- Normalise.h - attributes in their one form ----------------*- C++ -*-===//
//
// Named by a record's `normalise`, or follow from its axes; shared by the binding and the C++ API, so that
// equal calls are equal operators: axes count from the front and are sorted,
// sizes are numbers. Wrong values are left for inference to report.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess::normalise {

/// Every attribute that is an axis of an operand, or a set of them: from the front; sets sorted.
llvm::Error axes(OpDef &op, llvm::ArrayRef<TensorMeta> operands);
/// `starts`, `stops`, `steps`: limited to the axes where these are known; steps written out.

} // namespace tess::normalise
