//===- Transfers.h - values that leave their device -------------*- C++ -*-===//
#pragma once

#include "eager/tensor/Operator.h"

namespace tess::eager {

/// Waits for the value and copies it, row-major, to `destination`.
llvm::Error copyOut(TensorImpl &tensor, void *destination);
/// Gives the value on `device`: `tensor` itself when it is there already. A copy in memory that the host cannot read
/// has no value.
llvm::Expected<TensorRef> toDevice(TensorImpl &tensor, runtime::Device &device);

/// A tensor of a device that computes nothing: it has no memory there, and reads of its value say so. Few `bytes` are
/// kept on the host, for a recording that takes the tensor as a constant.
TensorRef withoutValue(const TensorMeta &meta, runtime::Device &device, const void *bytes = nullptr);

} // namespace tess::eager
