//===- Expressions.h - calls whose sizes may be expressions -----*- C++ -*-===//
//
// A recording, or a graph that is edited, serves other sizes than those of the
// call that made it. These functions run with the sizes of the call and have
// the expressions written down.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Operator.h"

namespace tess::eager {

/// The shape of `tensor` by the sizes of this thread's recording, as Tracer::symbolicShape(); by numbers where it knows
/// none, or nothing is recorded.
llvm::ArrayRef<int64_t> recordedShape(const TensorImpl &tensor);
/// Applies an operator whose sizes may be expressions of this thread's recording: it runs with the sizes of the
/// recorded call, and the recording writes it down as it is.
llvm::Error applyExpressions(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments,
                             Tensors &results);
/// Applies such an operator, which has one result.
llvm::Expected<TensorRef> applyExpressions(const OpDef &op, llvm::ArrayRef<Operand> operands = {});
/// Applies an operator whose attributes are as the caller gave them: it runs with what its record's `normalise`
/// makes of them at the sizes of this call, and a recording, which serves other sizes, writes it down as it is.
llvm::Error applyNormalised(OpDef op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments,
                            Tensors &results);
/// A tensor of rank 0 that holds `number` in `dtype`; of a size, a recording writes the expression down.
llvm::Expected<TensorRef> scalarOf(Number number, DType dtype, runtime::Device *device = nullptr);

} // namespace tess::eager
