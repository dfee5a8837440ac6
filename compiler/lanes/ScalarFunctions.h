//===- ScalarFunctions.h - the expansion of every ScalarFn ------*- C++ -*-===//
#pragma once

#include "compiler/lanes/LaneBuilder.h"
#include "ops/operator/OpInfo.h"
#include "ops/vocabulary/DType.h"

namespace tess::compiler {

/// The value of `fn` over `args`, which have the compute types of `types`, in the compute type of `result`; only Cast
/// rounds to narrow floats. Leaves (Operand, Attr, Const, Index, DimIndex) are not functions and assert.
V emitScalarFn(ScalarFn fn, DType result, llvm::ArrayRef<V> args, llvm::ArrayRef<DType> types);
/// The value of the shorter form of `fn`, sigmoid or tanh, of a float32 (compiler/kernel's hasShorterForm).
V emitShorterForm(ScalarFn fn, V x);
/// The number beside which `fn` (Add, Mul, Max, Min or LogAddExp) gives its other argument, for values of `dtype` that
/// are held in `elem`. Of a sum of floats it is -0.0.
V neutralOf(LaneBuilder &b, ScalarFn fn, DType dtype, Elem elem, bool vector);
/// One step of a reduction, an exact rule of the promise "one result": NaN wins in max and min, ties keep `acc`.
V combine(ReduceKind kind, V acc, V value, bool isUnsigned);

} // namespace tess::compiler
