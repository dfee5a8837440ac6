//===- Dispatch.h - one operator now ----------------------------*- C++ -*-===//
#pragma once

#include "eager/OpCache.h"
#include "eager/Operator.h"

#include <functional>

namespace tess::eager {

/// One operator on tensors that agree in all that inference asks for.
struct DispatchCall {
  const OpDef &op;
  llvm::ArrayRef<Operand> operands;
  llvm::ArrayRef<unsigned> segments;
  const Destination *into = nullptr;

  const OpInfo &info() const { return op.info(); }
  Metas metas() const;
};

/// Runs it: a view, a kernel launched from the cache, or a program bound to the shapes.
llvm::Error dispatch(const DispatchCall &call, Tensors &results);

/// Elementwise operators through a kernel of their class (DirectKernels.cpp). False: the class has no such kernel.
llvm::Expected<bool> dispatchDirect(const DispatchCall &call, Tensors &results);
/// Any operator through a program (Programs.cpp).
llvm::Error dispatchProgram(const DispatchCall &call, Tensors &results);
/// A new look at the operand's storage (Views.cpp).
llvm::Error dispatchView(const DispatchCall &call, Tensors &results);

/// The same values, row-major, as `reader` (an operator) wants them; the tensor itself when it is so already.
llvm::Expected<TensorRef> contiguous(TensorImpl &tensor, llvm::StringRef reader);

/// Copies the elements of `from` to `data`, laid out as `to`, which share no memory, because `reader` wants that
/// layout. Counted, and a "copy" of that name in a profile.
void copyElements(const TensorImpl &from, const Layout &to, char *data, llvm::StringRef reader);

/// What queued or failed operands mean for a call.
enum class Readiness : uint8_t { Ready, Pending, Poisoned };
Readiness readinessOf(llvm::ArrayRef<Operand> operands);
/// Poisons the results with the failure of an operand.
void inheritFailure(llvm::ArrayRef<Operand> operands, llvm::ArrayRef<TensorRef> results);
/// How a call that ran on this thread ended: an error comes out at once below async level 2, else it poisons the
/// results.
llvm::Error settle(const DispatchCall &call, llvm::ArrayRef<TensorRef> results, llvm::Error error);
/// "x f32[2, 3], y f32[3]".
std::string describeOperands(const DispatchCall &call);
/// Queues `body`, which holds what it needs beside the storages; an error when the user says stop while it waits.
llvm::Error enqueueCall(const DispatchCall &call, llvm::ArrayRef<TensorRef> results, std::function<llvm::Error()> body);

/// Key parts that do not depend on shapes.
uint64_t keyOfOp(const OpDef &op, bool direct);
uint64_t keyOfOperands(const DispatchCall &call);
uint64_t keyOfRanks(llvm::ArrayRef<Operand> operands);

} // namespace tess::eager
