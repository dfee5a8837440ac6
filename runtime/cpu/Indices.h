//===- Indices.h - integer operands that index ------------------*- C++ -*-===//
#pragma once

#include "runtime/device/IndexError.h"
#include "runtime/device/KernelTable.h"

namespace tess::runtime::cpu {

/// Counts a negative index from the end; false when the index is outside an axis of `size`.
inline bool wrapIndex(int64_t &index, int64_t size) {
  index += index < 0 ? size : 0;
  return index >= 0 && index < size;
}

} // namespace tess::runtime::cpu
