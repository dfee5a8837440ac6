//===- IndexCheck.h - indices that nothing is taken by ----------*- C++ -*-===//
#pragma once

#include "runtime/device/KernelTable.h"

namespace tess::runtime {

/// A kernel of one input, the indices, which lie as `layout` says, and no output: OutOfRange, in the name of `caller`,
/// for the first that is outside an axis of `size`. As NumPy, which looks at indices before it knows that there is
/// nothing to take.
PreparedRef indexCheck(std::string caller, DType dtype, Layout layout, int64_t size);

} // namespace tess::runtime
