//===- WindowRules.h - the windows of operators -----------------*- C++ -*-===//
//
// Named by a record's Window<...>.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/OpDef.h"

namespace tess::windows {

/// The windows of an operator along the last axes of operand 0, in the order of the axes.
using Windows = llvm::SmallVector<WindowAxis, 3>;

/// Attributes kernel_size, strides and padding, a number for each axis.
Windows pool(const OpDef &op);

} // namespace tess::windows
