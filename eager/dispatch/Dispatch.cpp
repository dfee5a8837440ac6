//===- Dispatch.cpp - one operator now ------------------------------------===//
#include "eager/dispatch/Dispatch.h"
#include "eager/classes/MiniGraph.h"
#include "eager/tensor/MemoryHooks.h"
#include "eager/tensor/ProfiledCalls.h"
#include "ops/graphs/Control.h"

namespace tess::eager {

void takeOver(const DispatchCall &call, Tensors &results) {
  TensorImpl &target = call.into->target;
  if (call.into->isRequired) {
    results.emplace_back(&target);
    return count(Count::Copies);
  }
  results.push_back(TensorImpl::create(target.dtype(), target.layout(), target.storageRef()));
  if (call.into->isSeen)
    target.storage().noteWrite(writeByHere(call.op.name()));
  count(Count::InPlace);
}

static llvm::Error dispatchNow(const DispatchCall &call, Tensors &results) {
  if (call.info().lowering == Lowering::View)
    return dispatchView(call, results);
  if (mayBeDirect(call.info(), call.operands.size())) {
    llvm::Expected<bool> done = dispatchDirect(call, results);
    if (!done)
      return done.takeError();
    if (*done) {
      count(Count::FromKernels, results.size());
      return llvm::Error::success();
    }
  }
  if (call.info().isExpandedFirst)
    return dispatchExpanded(call, results);
  return control::hasBody(call.info()) ? dispatchScan(call, results) : dispatchProgram(call, results);
}

/// Runs calls while values may be evicted (Kept.h).
static KeptDispatch dispatchKept = nullptr;

void setKeptDispatch(KeptDispatch function) { dispatchKept = function; }

llvm::Error dispatch(const DispatchCall &call, Tensors &results) {
  if (LLVM_UNLIKELY(eviction::isActive()) && !call.isPart) // the call that it is a part of is kept
    return dispatchKept(call, results);
  return dispatchPinned(call, results);
}

llvm::Error dispatchPinned(const DispatchCall &call, Tensors &results) {
  if (LLVM_LIKELY(!runtime::profiler::on()))
    return dispatchNow(call, results);
  runtime::profiler::At place(contextOf(call.op.name()));
  if (llvm::Error e = dispatchNow(call, results))
    return e;
  if (call.info().lowering != Lowering::View)
    recordTypes(results);
  return llvm::Error::success();
}

} // namespace tess::eager
