//===- WindowRules.cpp - the windows of operators -------------------------===//
#include "ops/WindowRules.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::windows {

Windows pool(const OpDef &op) {
  Windows windows;
  for (auto [size, stride, padding] : llvm::zip(op.ints("kernel_size"), op.ints("strides"), op.ints("padding")))
    windows.push_back({size, stride, padding, 1});
  return windows;
}

} // namespace tess::windows
