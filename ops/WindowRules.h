//===- WindowRules.h - the windows of operators -----------------*- C++ -*-===//
#pragma once

#include "ops/OpDef.h"

namespace tess::windows {

/// The windows of an operator along the last axes of operand 0, in the order of the axes.
using Windows = llvm::SmallVector<WindowAxis, 3>;

/// Those that the record's `compute` reads; of an operator with the lowering Window, or a library's poolings.
Windows of(const OpDef &op);

/// The number of windows along an axis of `size` elements; -1 when not even one fits.
int64_t count(int64_t size, const WindowAxis &window);

} // namespace tess::windows
