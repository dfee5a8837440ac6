//===- WindowRules.h - the windows of operators -----------------*- C++ -*-===//
#pragma once

#include "ops/inference/WindowCount.h"
#include "ops/operator/OpDef.h"

namespace tess::windows {

/// The windows of an operator along the last axes of operand 0, in the order of the axes.
using Windows = llvm::SmallVector<WindowAxis, 3>;

/// Those that the record's `compute` reads; of an operator with the lowering Window, or a library's poolings.
Windows of(const OpDef &op);

} // namespace tess::windows
