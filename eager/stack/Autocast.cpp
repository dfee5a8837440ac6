//===- Autocast.cpp - operators in two precisions -------------------------===//
#include "eager/stack/Autocast.h"

#include "eager/stack/Apply.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

static constinit thread_local Autocast current;

const Autocast &autocast() { return current; }

void setAutocast(const Autocast &cast) {
  current = cast;
  activeLayers = cast.isOn ? activeLayers | bitOf(Layer::Autocast) : activeLayers & ~bitOf(Layer::Autocast);
}

/// What operand number `index` is cast to. Integers, complex numbers and float64 stay.
static DType targetOf(Precision precision, unsigned index, DType dtype) {
  constexpr DTypeMask narrow = maskOf(DType::Float16) | maskOf(DType::BFloat16) | maskOf(DType::Float32);
  if (precision == Precision::Given || !(maskOf(dtype) & narrow))
    return dtype;
  bool isLow = precision == Precision::Low || (precision == Precision::LowData && index == 0);
  return isLow ? current.low : current.high;
}

llvm::Error applyAutocast(Call &call, Tensors &results) {
  Precision precision = call.isOpDef() ? call.opDef().info().autocast : Precision::Given;
  if (precision == Precision::Given)
    return next(call, results);
  static const OpInfo &cast = *findOp("cast");
  llvm::SmallVector<Operand, 4> operands(call.operands.begin(), call.operands.end());
  llvm::SmallVector<Tensors, 2> casts;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    DType dtype = operand.tensor ? operand.tensor->dtype() : DType::Bool;
    DType target = targetOf(precision, index, dtype);
    if (target == dtype)
      continue;
    OpDef op(cast);
    op.set("dtype", target);
    if (llvm::Error e = applyBelow(Layer::Autocast, op, {operand}, {}, casts.emplace_back()))
      return e;
    operand = Operand(casts.back().front());
  }
  if (casts.empty())
    return next(call, results);
  // In memory of another dtype there is no place for the result.
  Call below{call.op, operands, neededLayers(call.opDef(), operands, Layer::Scalar)};
  return next(below, results);
}

} // namespace tess::eager
