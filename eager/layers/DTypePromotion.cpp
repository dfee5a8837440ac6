//===- DTypePromotion.cpp - operands of one dtype ------------------------===//
//
// Casts the operands that a record's dtype rule promotes together;
// ops/Promotion has the table.
//
//===----------------------------------------------------------------------===//
#include "eager/layers/Layers.h"
#include "eager/stack/Apply.h"
#include "ops/inference/Promotion.h"

namespace tess::eager {

static llvm::Error castTo(TensorImpl *tensor, DType dtype, Tensors &results) {
  static const OpInfo &info = *findOp("cast");
  OpDef op(info);
  op.set("dtype", dtype);
  return applyBelow(Layer::DTypePromotion, op, {Operand(tensor)}, {}, results);
}

llvm::Error applyDTypePromotion(Call &call, Tensors &results) {
  llvm::SmallVector<DType, 4> dtypes;
  for (const Operand &operand : call.operands)
    dtypes.push_back(operand.tensor->dtype());
  llvm::SmallVector<unsigned, 4> segments(call.segments().begin(), call.segments().end());
  const OpInfo &info = call.opDef().info();
  if (segments.empty() && !info.simple)
    if (llvm::Error e = defaultSegments(info, call.operands.size()).moveInto(segments))
      return e;
  llvm::Expected<OperandDTypes> targets = operandDTypes(info, dtypes, {}, segments);
  if (!targets)
    return targets.takeError();
  llvm::SmallVector<Operand, 4> operands(call.operands.begin(), call.operands.end());
  llvm::SmallVector<Tensors, 2> casts;
  for (unsigned i = 0; i < operands.size(); ++i) {
    std::optional<DType> target = (*targets)[i];
    if (!target || *target == dtypes[i])
      continue;
    if (llvm::Error e = castTo(operands[i].tensor, *target, casts.emplace_back()))
      return e;
    operands[i] = Operand(casts.back().front());
  }
  if (casts.empty())
    return next(call, results);
  return applyBelow(Layer::DTypePromotion, call.opDef(), operands, call.segments(), results, call.into);
}

} // namespace tess::eager
