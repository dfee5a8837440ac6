//===- Interpreter.cpp - the last layer: operators become values ---------===//
#include "eager/dispatch/Dispatch.h"
#include "eager/dispatch/Outcome.h"
#include "eager/dispatch/Transfers.h"
#include "eager/eviction/Eviction.h"
#include "eager/layers/Layers.h"
#include "eager/tensor/Counters.h"
#include "eager/tensor/MemoryReport.h"
#include "eager/tensor/Placement.h"
#include "eager/tensor/Queue.h"
#include "ops/inference/QuantizedMetas.h"

namespace tess::eager {

static llvm::Error create(const CreateTensor &op, Tensors &results) {
  if (LLVM_UNLIKELY(isQuantized(op.meta.dtype)))
    if (llvm::Error e = checkQuantized("tensor", op.meta))
      return e;
  runtime::Device &device = op.device ? *op.device : creationDevice();
  if (LLVM_UNLIKELY(!device.computes())) {
    results.push_back(withoutValue(op.meta, device, op.bytes));
    return llvm::Error::success();
  }
  llvm::Expected<TensorRef> tensor = TensorImpl::allocate(op.meta.dtype, op.meta.shape, device);
  if (!tensor)
    return tensor.takeError();
  if (op.bytes)
    if (llvm::Error e = copyFromHost(**tensor, op.bytes, size_t((*tensor)->storage().bytes())))
      return e;
  count(Count::FromHost);
  results.push_back(std::move(*tensor));
  return llvm::Error::success();
}

static llvm::Error getAttr(const GetAttr &op, TensorImpl &tensor) {
  switch (op.attr) {
  case GetAttr::DTypeOf:
    op.answer = tensor.dtype();
    break;
  case GetAttr::DeviceOf:
    op.answer = tensor.storage().device().name();
    break;
  case GetAttr::ShapeOf:
    op.answer = Shape(tensor.shape());
    break;
  case GetAttr::Value:
    return copyOut(tensor, op.destination);
  case GetAttr::Data:
    if (llvm::Error e = eviction::expose(tensor.storage()))
      return e;
    if (llvm::Error e = awaitValue(tensor.storage()))
      return e;
    op.answer = static_cast<const void *>(tensor.data());
    break;
  }
  return llvm::Error::success();
}

static llvm::Error interpretOther(Call &call, Tensors &results) {
  TensorImpl *tensor = call.operands.empty() ? nullptr : call.operands[0].tensor;
  switch (call.op.kind) {
  case OperatorKind::CreateTensor:
    return create(static_cast<const CreateTensor &>(call.op), results);
  case OperatorKind::GetAttr:
    return getAttr(static_cast<const GetAttr &>(call.op), *tensor);
  case OperatorKind::DupTensor: {
    TensorRef copy = tensor->dup();
    tensor->storage().noteCopy();
    if (static_cast<const DupTensor &>(call.op).detach)
      copy->clearGradIds();
    results.push_back(std::move(copy));
    return llvm::Error::success();
  }
  case OperatorKind::RenameValue:
    tensor->setName(static_cast<const RenameValue &>(call.op).name);
    return llvm::Error::success();
  case OperatorKind::GetName:
    static_cast<const GetName &>(call.op).answer = tensor->name().str();
    return llvm::Error::success();
  case OperatorKind::OpDef:
    break;
  }
  return makeError(ErrorCode::Internal,
                   llvm::Twine("interpreter: unhandled OperatorKind ") + llvm::Twine(unsigned(call.op.kind)));
}

/// Names an operand and its device, as in "x (operand 0) on cpu0".
static std::string placeOf(const Call &call, unsigned i) {
  const OpInfo &info = call.opDef().info();
  bool named = call.segments().empty() && i < info.operands.size();
  std::string position = " (operand " + std::to_string(i) + ")";
  return (named ? std::string(info.operands[i].name) : "an operand") + position + " on " +
         call.operands[i].tensor->storage().device().name();
}

/// Checks that all operands are on one device.
static llvm::Error checkDevices(const Call &call) {
  runtime::Device &first = deviceOf(call.operands);
  for (unsigned i = 1; i < call.operands.size(); ++i)
    if (LLVM_UNLIKELY(&call.operands[i].tensor->storage().device() != &first))
      return invalidArgument(call.opDef().name() + ": operands must be on one device, got " + placeOf(call, 0) +
                             " and " + placeOf(call, i));
  return llvm::Error::success();
}

/// Infers the results on a device that keeps shapes and no values.
static llvm::Error infer(const Call &call, runtime::Device &device, Tensors &results) {
  llvm::Expected<Metas> metas = call.opDef().infer(metasOf(call.operands), call.segments());
  if (!metas)
    return metas.takeError();
  for (const TensorMeta &meta : *metas) {
    if (!meta.isStatic())
      return makeError(ErrorCode::Unimplemented, call.opDef().name() + ": sizes must be known without data on " +
                                                     device.name() + ", which has no values, got " + toString(meta));
    results.push_back(withoutValue(meta, device));
  }
  return llvm::Error::success();
}

llvm::Error interpret(Call &call, Tensors &results) {
  if (!call.isOpDef())
    return interpretOther(call, results);
  for (const Operand &operand : call.operands)
    if (LLVM_UNLIKELY(!operand.tensor))
      return makeError(ErrorCode::Internal, call.opDef().name() + ": operands must be tensors by now, got a number");
  if (llvm::Error e = checkDevices(call))
    return e;
  if (runtime::Device &device = deviceOf(call.operands); LLVM_UNLIKELY(!device.computes()))
    return infer(call, device, results);
  if (llvm::Error e = dispatch({call.opDef(), call.operands, call.segments(), call.into}, results))
    return withOperator(std::move(e), [&] {
      return call.opDef().name().str() + " of " + describeOperands({call.opDef(), call.operands, call.segments()});
    });
  count(Count::Results, results.size());
  return llvm::Error::success();
}

} // namespace tess::eager
