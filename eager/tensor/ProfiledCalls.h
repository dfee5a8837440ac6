//===- ProfiledCalls.h - calls as a profile names them ----------*- C++ -*-===//
#pragma once

#include "eager/tensor/Tensor.h"
#include "runtime/device/Profiler.h"

namespace tess::eager {

/// The context of a call of `operation` by the user's line, to be made while a profile is taken.
runtime::profiler::Context contextOf(llvm::StringRef operation);
/// Records the types of tensors that have memory.
void recordTypes(llvm::ArrayRef<TensorRef> tensors);

} // namespace tess::eager
