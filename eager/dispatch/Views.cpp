//===- Views.cpp - operators without a kernel ----------------------------===//
//
// A view is inferred once for each layout: each thread remembers the layouts
// that its latest view operators made.
//
//===----------------------------------------------------------------------===//
#include "eager/dispatch/Contiguous.h"
#include "eager/dispatch/Dispatch.h"
#include "eager/tensor/Counters.h"
#include "ops/vocabulary/Hash.h"
#include "ops/vocabulary/Quantization.h"

#include <algorithm>
#include <array>
#include <memory>

namespace tess::eager {

namespace {

/// The result of a view operator for one layout.
struct KnownView {
  OpDef op;
  unsigned rank;
  int64_t dims[kMaxRank], steps[kMaxRank]; // of the operand
  bool needsCopy = false; // no strides over the operand's memory give it, so it is made over a row-major copy
  Layout layout;          // of the result; its offset counts from the operand's first element

  KnownView(const OpDef &op, const TensorImpl &x) : op(op), rank(x.rank()) {
    std::copy(x.shape().begin(), x.shape().end(), dims);
    std::copy(x.strides().begin(), x.strides().end(), steps);
  }
  bool answers(const OpDef &asked, const TensorImpl &x) const {
    return rank == x.rank() && std::equal(dims, dims + rank, x.shape().begin()) &&
           std::equal(steps, steps + rank, x.strides().begin()) && op.isSame(asked);
  }
};

constexpr unsigned kSlotBits = 8;
/// A direct-mapped cache.
using KnownViews = std::array<std::unique_ptr<KnownView>, 1 << kSlotBits>;

std::unique_ptr<KnownView> &slotOf(const OpDef &op, const TensorImpl &x) {
  thread_local KnownViews known;
  uint64_t h = op.hash();
  for (unsigned i = 0; i < x.rank(); ++i)
    h = mixHash(h, uint64_t(x.shape()[i]) ^ uint64_t(x.strides()[i]) << 32);
  return known[h >> (64 - kSlotBits)];
}

llvm::Expected<std::unique_ptr<KnownView>> inferView(const DispatchCall &call, const TensorImpl &x) {
  llvm::Expected<Metas> results = call.infer();
  if (!results)
    return results.takeError();
  const Shape &shape = results->front().shape;
  auto view = std::make_unique<KnownView>(call.op, x);
  Layout operand = x.layout();
  operand.offset = 0;
  llvm::Expected<Layout> layout = call.info().viewRule(call.op, operand, shape);
  if (!layout) {
    llvm::consumeError(layout.takeError()); // these strides cannot be viewed so
    view->needsCopy = true;
    layout = call.info().viewRule(call.op, Layout::contiguous(x.shape()), shape);
    if (!layout)
      return layout.takeError();
  }
  view->layout = std::move(*layout);
  return view;
}

/// The dtype of the result: that of the operand, but where channels have scales it says along which axis.
llvm::Expected<DType> viewedDType(const DispatchCall &call, DType dtype) {
  if (!isPerChannel(dtype))
    return dtype;
  llvm::Expected<Metas> results = call.infer();
  return results ? llvm::Expected<DType>(results->front().dtype) : results.takeError();
}

llvm::Error lookAt(const DispatchCall &call, const KnownView &view, Tensors &results) {
  TensorImpl &x = *call.operands[0].tensor;
  DType dtype = x.dtype();
  if (LLVM_UNLIKELY(parametersOf(dtype)))
    if (llvm::Error e = viewedDType(call, dtype).moveInto(dtype))
      return e;
  count(Count::FromViews);
  if (LLVM_LIKELY(!view.needsCopy)) {
    if (!call.isPart)
      x.storage().noteView();
    results.push_back(TensorImpl::create(dtype, view.layout, x.storageRef(), x.offset()));
    return llvm::Error::success();
  }
  llvm::Expected<TensorRef> copy = contiguous(x, view.op.name());
  if (!copy)
    return copy.takeError();
  results.push_back(TensorImpl::create(dtype, view.layout, (*copy)->storageRef()));
  return llvm::Error::success();
}

} // namespace

llvm::Error dispatchView(const DispatchCall &call, Tensors &results) {
  TensorImpl &x = *call.operands[0].tensor;
  std::unique_ptr<KnownView> &known = slotOf(call.op, x);
  // The shape of a second operand would decide as well, so such a view is not remembered.
  if (!known || call.operands.size() > 1 || !known->answers(call.op, x))
    if (llvm::Error e = inferView(call, x).moveInto(known))
      return e;
  return lookAt(call, *known, results);
}

} // namespace tess::eager
