//===- Work.h - how much an operator computes -------------------*- C++ -*-===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess {

/// Multiplications and additions of `op` by its definition, whatever an implementation computes: two for each of the
/// record's multiplyAdds; of any other operator in a kernel one for each element that it makes or reads, whichever are
/// more; 0 for one that copies, and for calls of the kernel table whose record says nothing.
double operationsOf(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<TensorMeta> results);
/// Estimated picoseconds on a core: those of its operations, and of the bytes of operands and results.
double picosecondsOf(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<TensorMeta> results);
/// Estimated picoseconds of moving the elements of a tensor; a size that is not known counts as none.
double picosecondsOf(const TensorMeta &meta);

} // namespace tess
