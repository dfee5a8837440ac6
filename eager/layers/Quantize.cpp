//===- Quantize.cpp - casts to and from quantized dtypes -----------------===//
//
// Becomes the operators that take scale and zero point as operands: these are
// tensors here, so that no parameter is part of a cache key, and constants of a
// recording. An operator that rounds to the grid of its operand computes on the
// numbers in between.
//
//===----------------------------------------------------------------------===//
#include "eager/layers/Layers.h"
#include "eager/stack/Apply.h"
#include "eager/tensor/Placement.h"
#include "ops/inference/QuantizedMetas.h"
#include "ops/table/Builtin.h"
#include "ops/vocabulary/Quantization.h"

namespace tess::eager {

/// Scale and zero point as tensors; those of channels broadcast along their axis of a tensor of rank `rank`.
static llvm::Expected<Tensors> parameterTensors(DType dtype, unsigned rank) {
  const Quantization &parameters = *quantizationOf(dtype);
  Shape shape;
  if (parameters.isPerChannel()) {
    shape.assign(size_t(std::max(1, int(rank) - parameters.axis)), 1);
    shape[0] = int64_t(parameters.scales.size());
  }
  Tensors made;
  if (llvm::Error e =
          createTensor(TensorMeta(DType::Float32, shape), parameters.scales.data()).moveInto(made.emplace_back()))
    return std::move(e);
  if (llvm::Error e =
          createTensor(TensorMeta(DType::Int32, shape), parameters.zeroPoints.data()).moveInto(made.emplace_back()))
    return std::move(e);
  return made;
}

static llvm::Expected<TensorRef> applyTo(const OpDef &op, llvm::ArrayRef<Operand> operands) {
  Tensors results;
  if (llvm::Error e = applyBelow(Layer::Quantize, op, operands, {}, results))
    return std::move(e);
  return std::move(results.front());
}

static llvm::Expected<TensorRef> castTo(TensorRef x, DType dtype) {
  if (x->dtype() == dtype)
    return x;
  return applyTo(builtin::Cast(dtype), {Operand(x)});
}

/// The numbers that `x` stands for, in float32.
static llvm::Expected<TensorRef> dequantized(const TensorRef &x) {
  llvm::Expected<Tensors> parameters = parameterTensors(x->dtype(), x->rank());
  if (!parameters)
    return parameters.takeError();
  return applyTo(builtin::Dequantize(), {Operand(x), Operand((*parameters)[0]), Operand((*parameters)[1])});
}

/// `x`, whose dtype is not quantized, in the quantized `dtype`.
static llvm::Expected<TensorRef> quantized(TensorRef x, DType dtype) {
  if (llvm::Error e = checkQuantized("cast", TensorMeta(dtype, x->shape())))
    return std::move(e);
  llvm::Expected<Tensors> parameters = parameterTensors(dtype, x->rank());
  if (!parameters)
    return parameters.takeError();
  llvm::Expected<TensorRef> wide = castTo(std::move(x), DType::Float32);
  if (!wide)
    return wide;
  return applyTo(builtin::Quantize(dtype), {Operand(*wide), Operand((*parameters)[0]), Operand((*parameters)[1])});
}

static llvm::Expected<TensorRef> converted(TensorRef x, DType dtype) {
  if (x->dtype() == dtype)
    return applyTo(builtin::Copy(), {Operand(x)});
  llvm::Expected<TensorRef> plain = isQuantized(x->dtype()) ? dequantized(x) : std::move(x);
  if (!plain)
    return plain;
  return isQuantized(dtype) ? quantized(std::move(*plain), dtype) : castTo(std::move(*plain), dtype);
}

/// The call on the numbers of its quantized operand 0, back in the operand's dtype.
static llvm::Error applyOnNumbers(Call &call, Tensors &results) {
  const DType dtype = call.operands[0].tensor->dtype();
  if (isPerChannel(dtype))
    return makeError(ErrorCode::TypeMismatch, call.opDef().name() + ": " + call.opDef().info().operands[0].name +
                                                  " must have one scale for all channels, got " +
                                                  toString(call.operands[0].tensor->meta()) + "; dequantize it first");
  llvm::Expected<TensorRef> numbers = dequantized(TensorRef(call.operands[0].tensor));
  if (!numbers)
    return numbers.takeError();
  llvm::SmallVector<Operand, 4> operands(call.operands);
  operands[0] = Operand(*numbers);
  Tensors computed;
  if (llvm::Error e = applyBelow(Layer::Quantize, call.opDef(), operands, call.segments(), computed))
    return e;
  return quantized(std::move(computed.front()), dtype).moveInto(results.emplace_back());
}

llvm::Error applyQuantize(Call &call, Tensors &results) {
  static const OpInfo &cast = *findOp("cast");
  const OpInfo &info = call.opDef().info();
  const bool rounds = info.roundsToGrid && call.operands[0].tensor && isQuantized(call.operands[0].tensor->dtype());
  if (!rounds && (&info != &cast || call.operands.size() != 1))
    return next(call, results);
  OnDevice here(call.operands);
  if (rounds)
    return applyOnNumbers(call, results);
  return converted(TensorRef(call.operands[0].tensor), call.opDef().attr(cast.dtypes.attr).dtype())
      .moveInto(results.emplace_back());
}

} // namespace tess::eager
