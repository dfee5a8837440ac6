//===- QuantizedMetas.h - quantized results of operators --------*- C++ -*-===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess {

/// What `op` makes of scales and zero points for each channel: their axis moves with the view, and stays where operands
/// have the axes of the result. InvalidArgument where the channels do not stay whole and in order, TypeMismatch for
/// operators that may mix channels. `results` are inferred, with the dtypes of the operands.
llvm::Error settleQuantized(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, Metas &results);

/// Checks that a dtype that is quantized has a scale, or one for each index along an axis that `meta` has: for tensors
/// that are made of stored integers. Errors begin with `what`.
llvm::Error checkQuantized(const llvm::Twine &what, const TensorMeta &meta);

} // namespace tess
