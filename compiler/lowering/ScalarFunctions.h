//===- ScalarFunctions.h - the expansion of every ScalarFn ------*- C++ -*-===//
#pragma once

#include "compiler/lowering/LaneBuilder.h"
#include "ops/DType.h"
#include "ops/OpInfo.h"

namespace tess::compiler {

/// Value of `fn` over `args` (compute types of `types`), as the compute type of `result`; not rounded to narrow floats
/// but for Cast. Leaves (Operand, Attr, Const, Index, DimIndex) are not functions and assert.
V emitScalarFn(ScalarFn fn, DType result, llvm::ArrayRef<V> args, llvm::ArrayRef<DType> types);
/// One step of a reduction, an exact rule of the promise "one result": NaN wins in max and min, ties keep `acc`.
V combine(ReduceKind kind, V acc, V value, bool isUnsigned);

} // namespace tess::compiler
