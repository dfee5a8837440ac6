//===- QuantizedMetas.cpp - quantized results of operators ----------------===//
//
// One scale for the whole tensor stays what it is, whatever moves. Of channels
// the axis is part of the dtype.
//
//===----------------------------------------------------------------------===//
#include "ops/inference/QuantizedMetas.h"

#include "ops/vocabulary/Quantization.h"
#include "llvm/ADT/STLExtras.h"

namespace tess {

/// Product of the sizes behind `axis`.
static int64_t countBehind(const TensorMeta &meta, int axis) {
  return TensorMeta(meta.dtype, llvm::ArrayRef<int64_t>(meta.shape).drop_front(axis + 1)).numElements();
}

/// The axis of `result` that has the elements of `axis` of `x` when their row-major order stays; -1: none.
static int axisInOrder(const TensorMeta &x, int axis, const TensorMeta &result) {
  int64_t behind = countBehind(x, axis);
  for (int i = 0; i < int(result.rank()); ++i)
    if (result.shape[i] == x.shape[axis] && countBehind(result, i) == behind)
      return i;
  return -1;
}

/// The axis of the permuted `result` that is `axis` of `x`.
static int permutedAxis(const OpDef &op, const TensorMeta &x, int axis, const TensorMeta &result) {
  Layout marked;
  marked.shape = x.shape;
  marked.strides.assign(x.rank(), 0);
  marked.strides[axis] = 1;
  llvm::Expected<Layout> view = op.info().viewRule(op, marked, result.shape);
  if (!view) {
    llvm::consumeError(view.takeError());
    return -1;
  }
  return int(llvm::find(view->strides, 1) - view->strides.begin());
}

/// The axis of `result` that is `axis` of operand 0; -1: there is none, or its elements are in another order.
static int movedAxis(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, int axis, const TensorMeta &result,
                     unsigned number) {
  const TensorMeta &x = operands.front();
  if (op.info().channelRule)
    return op.info().channelRule(op, operands, axis, number);
  switch (op.info().viewKind) {
  case ViewKind::Reshape:
  case ViewKind::UnitAxes:
    return axisInOrder(x, axis, result);
  case ViewKind::Broadcast:
    return axis + int(result.rank()) - int(x.rank());
  case ViewKind::Permute:
    return permutedAxis(op, x, axis, result);
  case ViewKind::Slice: // by its channel rule
  case ViewKind::None:
    break;
  }
  return -1;
}

/// Whether channels stay where they are along axes that operands and results share.
static bool keepsChannels(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, const TensorMeta &result) {
  auto isAligned = [&](const TensorMeta &operand) {
    return !isQuantized(operand.dtype) || operand.rank() == result.rank();
  };
  bool isAlong = op.info().lowering == Lowering::Elementwise || op.info().keepsAxes;
  return isAlong && llvm::all_of(operands, isAligned);
}

static std::string listOf(llvm::ArrayRef<TensorMeta> operands) {
  std::string text;
  for (const TensorMeta &operand : operands)
    text += (text.empty() ? "" : " and ") + toString(operand);
  return text;
}

llvm::Error checkQuantized(const llvm::Twine &what, const TensorMeta &meta) {
  if (!isQuantized(meta.dtype))
    return llvm::Error::success();
  if (!parametersOf(meta.dtype))
    return makeError(ErrorCode::TypeMismatch, what + ": a quantized dtype must have a scale, got " + toString(meta));
  const Quantization &parameters = *quantizationOf(meta.dtype);
  int64_t channels = int64_t(parameters.scales.size()), axis = parameters.axis;
  bool fits = axis < 0 || (axis < int64_t(meta.rank()) && (meta.shape[axis] == channels || meta.shape[axis] < 0));
  if (fits)
    return llvm::Error::success();
  return invalidArgument(what + ": axis " + llvm::Twine(axis) + " must have a scale for each index, got " +
                         llvm::Twine(channels) + " scales for shape " + toString(meta.shape));
}

static llvm::Error settle(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, TensorMeta &result, unsigned number) {
  DTypeRuleKind rule = op.info().dtypes.kind;
  if (rule == DTypeRuleKind::FromAttr || rule == DTypeRuleKind::Rule)
    return checkQuantized(op.name(), result);
  if (op.info().channelRule || op.info().viewKind != ViewKind::None) {
    const TensorMeta &x = operands.front();
    int axis = movedAxis(op, operands, quantizationOf(x.dtype)->axis, result, number);
    if (axis < 0)
      return invalidArgument(op.name() + ": " + op.info().operands[0].name +
                             " must keep the axis of its channels whole and in order, got " + listOf(operands) +
                             " to shape " + toString(result.shape) + "; dequantize it first");
    if (llvm::Error error = withChannelAxis(x.dtype, axis).moveInto(result.dtype))
      return error;
  } else if (!keepsChannels(op, operands, result)) {
    return makeError(ErrorCode::TypeMismatch, op.name() + ": operands must have one scale for all channels, got " +
                                                  listOf(operands) + "; dequantize them first");
  }
  return checkQuantized(op.name(), result);
}

llvm::Error settleQuantized(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, Metas &results) {
  for (auto [number, result] : llvm::enumerate(results))
    if (isPerChannel(result.dtype))
      if (llvm::Error error = settle(op, operands, result, number))
        return error;
  return llvm::Error::success();
}

} // namespace tess
