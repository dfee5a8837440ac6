//===- Outcome.h - how calls end: at once, later, or badly ------*- C++ -*-===//
#pragma once

#include "eager/dispatch/Dispatch.h"

#include <functional>

namespace tess::eager {

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

} // namespace tess::eager
