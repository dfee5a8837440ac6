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

  /// The record of the operator, and the dtypes and shapes of the operands.
  const OpInfo &info() const { return op.info(); }
  Metas metas() const;
};

/// Appends the results of `call`, by one of the three ways below. Large work may be queued (Queue.h).
llvm::Error dispatch(const DispatchCall &call, Tensors &results);

/// Runs an elementwise operator by a kernel of its class (DirectKernels.cpp). False: the class has no such kernel, and
/// nothing was done.
llvm::Expected<bool> dispatchDirect(const DispatchCall &call, Tensors &results);
/// Runs any operator by a program that is bound to the shapes (Programs.cpp).
llvm::Error dispatchProgram(const DispatchCall &call, Tensors &results);
/// Gives operand 0 a new layout over the same storage (Views.cpp); nothing runs.
llvm::Error dispatchView(const DispatchCall &call, Tensors &results);

/// `tensor` row-major, for the operator `reader`: the tensor itself when it is so already, else a copy that is counted,
/// and a "copy" of that name in a profile.
llvm::Expected<TensorRef> contiguous(TensorImpl &tensor, llvm::StringRef reader);
/// The same, once it has its value.
llvm::Expected<TensorRef> contiguousNow(TensorImpl &tensor, llvm::StringRef reader);

/// Writes `value`, of the same shape and dtype, into the memory of `target`, which it does not share, in the order of
/// the queue. The copy is counted, and appears in a profile under the name of `reader`.
llvm::Error copyInto(TensorImpl &target, const TensorImpl &value, llvm::StringRef reader);

/// Whether a call can run now: Pending when an operand is still queued, else Poisoned when one failed.
enum class Readiness : uint8_t { Ready, Pending, Poisoned };
Readiness readinessOf(llvm::ArrayRef<Operand> operands);
/// Poisons the results with the failure of an operand.
void inheritFailure(llvm::ArrayRef<Operand> operands, llvm::ArrayRef<TensorRef> results);
/// Ends a call that ran on this thread. Below async level 2 an error is returned, in the user's words; at level 2 it
/// poisons the results.
llvm::Error settle(const DispatchCall &call, llvm::ArrayRef<TensorRef> results, llvm::Error error);
/// "x f32[2, 3], y f32[3]".
std::string describeOperands(const DispatchCall &call);
/// Queues `body`, which must own all that it needs but the storages of operands and results. An error when the user
/// interrupts the wait for room in the queue.
llvm::Error enqueueCall(const DispatchCall &call, llvm::ArrayRef<TensorRef> results, std::function<llvm::Error()> body);

/// The words of an OpKey: static attributes, dtypes and segments, ranks. Attributes that bind
/// time reads count where readsSizesLater() says no.
uint64_t keyOfOp(const OpDef &op, bool direct);
uint64_t keyOfOperands(const DispatchCall &call);
uint64_t keyOfRanks(llvm::ArrayRef<Operand> operands);

} // namespace tess::eager
