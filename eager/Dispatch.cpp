//===- Dispatch.cpp - one operator now ------------------------------------===//
#include "eager/Dispatch.h"
#include "eager/MiniGraph.h"
#include "ops/Control.h"

namespace tess::eager {

llvm::Error dispatch(const DispatchCall &call, Tensors &results) {
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

} // namespace tess::eager
