//===- Dispatch.h - one operator now ----------------------------*- C++ -*-===//
#pragma once

#include "eager/OpCache.h"
#include "eager/Operator.h"

namespace tess::eager {

/// One operator on tensors that agree in all that inference asks for.
struct DispatchCall {
  const OpDef &op;
  llvm::ArrayRef<Operand> operands;
  llvm::ArrayRef<unsigned> segments;
  bool isTrain;

  const OpInfo &info() const { return op.info(); }
  Metas metas() const;
};

/// Runs it: a view, a kernel launched from the cache, or a program bound to the shapes.
llvm::Expected<Tensors> dispatch(const DispatchCall &call);

/// Elementwise operators through a kernel of their class (Direct.cpp). nullopt: the class has no such kernel.
llvm::Expected<std::optional<Tensors>> dispatchDirect(const DispatchCall &call);
/// Any operator through a program (Programs.cpp).
llvm::Expected<Tensors> dispatchProgram(const DispatchCall &call);
/// A new look at the operand's storage (Views.cpp).
llvm::Expected<Tensors> dispatchView(const DispatchCall &call);

/// The same values, row-major; the tensor itself when it is so already. A copy is counted.
llvm::Expected<TensorRef> contiguous(TensorImpl &tensor);

/// Key parts that do not depend on shapes.
uint64_t keyOfOp(const OpDef &op, bool direct);
uint64_t keyOfOperands(const DispatchCall &call);

} // namespace tess::eager
