//===- Views.cpp - operators without a kernel ----------------------------===//
#include "eager/Counters.h"
#include "eager/Dispatch.h"

namespace tess::eager {

static Tensors viewOf(TensorImpl &tensor, const Layout &layout) {
  count(Count::FromViews);
  return {TensorImpl::create(tensor.dtype(), layout, tensor.storageRef())};
}

llvm::Expected<Tensors> dispatchView(const DispatchCall &call) {
  if (llvm::Expected<Metas> results = call.op.infer(call.metas(), call.segments); !results)
    return results.takeError();
  TensorImpl &tensor = *call.operands[0].tensor;
  llvm::Expected<Layout> layout = call.info().viewRule(call.op, tensor.layout());
  if (layout)
    return viewOf(tensor, *layout);
  llvm::consumeError(layout.takeError()); // these strides cannot be looked at so: look at a copy
  llvm::Expected<TensorRef> copy = contiguous(tensor);
  if (!copy)
    return copy.takeError();
  layout = call.info().viewRule(call.op, (*copy)->layout());
  if (!layout)
    return layout.takeError();
  return viewOf(**copy, *layout);
}

} // namespace tess::eager
