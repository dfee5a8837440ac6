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
/// The same, for terms of records.
inline int64_t countOf(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  return count(size, {kernel, stride, padding, dilation});
}

} // namespace tess::windows
