//===- Loops.h - what trips give, side by side ------------------*- C++ -*-===//
#pragma once

#include "eager/tensor/Operator.h"

namespace tess::eager {

/// A new tensor with `elements` along a new axis 0: of one dtype and shape, at least one. Unlike the operator `stack`
/// it compiles nothing for their number; nothing records it.
llvm::Expected<TensorRef> stackElements(llvm::ArrayRef<TensorRef> elements);

} // namespace tess::eager
