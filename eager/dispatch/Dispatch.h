//===- Dispatch.h - one operator now ----------------------------*- C++ -*-===//
#pragma once

#include "eager/classes/OpCache.h"
#include "eager/tensor/Placement.h"

namespace tess::eager {

/// One operator on tensors that agree in all that inference asks for.
struct DispatchCall {
  const OpDef &op;
  llvm::ArrayRef<Operand> operands;
  llvm::ArrayRef<unsigned> segments;
  const Destination *into = nullptr;
  bool isPart = false;                   // of a composite: no user sees the results
  llvm::ArrayRef<uint64_t> scalars = {}; // runtime attributes of operators in its body, as generated code reads them

  /// The record of the operator; the results, or the error in the user's shapes.
  const OpInfo &info() const { return op.info(); }
  llvm::Expected<Metas> infer() const { return op.infer(metasOf(operands), segments); }
  /// Where it runs, and where the results are.
  runtime::Device &device() const { return deviceOf(operands); }
};

/// Adds the result of `call` in the memory of its destination.
void takeOver(const DispatchCall &call, Tensors &results);

/// Adds the results of `call` to `results`, which is empty, by one of the ways below. Large work may be queued
/// (Queue.h).
llvm::Error dispatch(const DispatchCall &call, Tensors &results);
/// Runs a call whose operands stay in memory, whatever is evicted meanwhile.
llvm::Error dispatchPinned(const DispatchCall &call, Tensors &results);
/// Sets what dispatch() does instead while values may be evicted.
using KeptDispatch = llvm::Error (*)(const DispatchCall &call, Tensors &results);
void setKeptDispatch(KeptDispatch function);

/// Runs an elementwise operator by a kernel of its class (DirectKernels.cpp). False: the class has no such kernel, and
/// nothing was done.
llvm::Expected<bool> dispatchDirect(const DispatchCall &call, Tensors &results);
/// Runs any operator by a program that is bound to the shapes (Programs.cpp).
llvm::Error dispatchProgram(const DispatchCall &call, Tensors &results);
/// Runs the operators of a composite one by one (Expansion.cpp).
llvm::Error dispatchExpanded(const DispatchCall &call, Tensors &results);
/// Runs the body of a scan once for each trip (Loops.cpp).
llvm::Error dispatchScan(const DispatchCall &call, Tensors &results);
/// Gives operand 0 a new layout over the same storage (Views.cpp); nothing runs.
llvm::Error dispatchView(const DispatchCall &call, Tensors &results);

} // namespace tess::eager
