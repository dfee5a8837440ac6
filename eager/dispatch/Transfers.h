//===- Transfers.h - values that leave their device -------------*- C++ -*-===//
#pragma once

#include "eager/tensor/Operator.h"

namespace tess::eager {

/// Waits for the value and copies it, row-major, to `destination`.
llvm::Error copyOut(TensorImpl &tensor, void *destination);
/// Gives the value on `device`: `tensor` itself when it is there already. A copy in memory that the host cannot read
/// has no value.
llvm::Expected<TensorRef> toDevice(TensorImpl &tensor, runtime::Device &device);

} // namespace tess::eager
