//===- Scalar.cpp - Python numbers become operands -----------------------===//
//
// A number takes the dtype that promotion gives it beside the tensors. From
// here on it is a tensor of rank 0, so that its value is never part of a cache
// key.
//
//===----------------------------------------------------------------------===//
#include "eager/layers/Layers.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Expressions.h"
#include "eager/tensor/Placement.h"
#include "ops/inference/Promotion.h"

namespace tess::eager {

static llvm::Error outOfRange(const OpDef &op, Number number, DType dtype) {
  return makeError(ErrorCode::OutOfRange,
                   op.name() + ": a number must fit its dtype " + shortName(dtype) + ", got " + llvm::Twine(number.i));
}

static bool isComparison(const OpDef &op) {
  static const OpInfo *const infos[] = {findOp("less"),          findOp("less_equal"), findOp("greater"),
                                        findOp("greater_equal"), findOp("equal"),      findOp("not_equal")};
  return llvm::is_contained(infos, &op.info());
}

/// The dtype in which a comparison sees an integer that `dtype` does not hold, and the elements of the tensor beside
/// it: the order is that of the values. A negative number is below every uint64, whatever these are rounded to.
static DType comparedIn(DType dtype) { return dtype == DType::UInt64 ? DType::Float64 : DType::Int64; }

/// The device of the first tensor; null without one.
static runtime::Device *deviceOfTensors(llvm::ArrayRef<Operand> operands) {
  const Operand *first = llvm::find_if(operands, [](const Operand &operand) { return bool(operand.tensor); });
  return first == operands.end() ? nullptr : &first->tensor->storage().device();
}

llvm::Error applyScalar(Call &call, Tensors &results) {
  llvm::SmallVector<DType, 4> dtypes;
  llvm::SmallVector<bool, 4> isWeak;
  for (const Operand &operand : call.operands) {
    isWeak.push_back(!operand.tensor);
    dtypes.push_back(operand.tensor ? operand.tensor->dtype() : operand.number.kindDType());
  }
  llvm::Expected<OperandDTypes> targets = operandDTypes(call.opDef().info(), dtypes, isWeak, call.segments());
  if (!targets)
    return targets.takeError();
  llvm::SmallVector<Operand, 4> operands(call.operands.begin(), call.operands.end());
  runtime::Device *device = deviceOfTensors(operands);
  Tensors made;
  for (unsigned i = 0; i < operands.size(); ++i) {
    if (operands[i].tensor)
      continue;
    DType dtype = (*targets)[i].value_or(dtypes[i]);
    if (!fits(operands[i].number, dtype)) {
      if (!isComparison(call.opDef()))
        return outOfRange(call.opDef(), operands[i].number, dtype);
      dtype = comparedIn(dtype);
    }
    if (llvm::Error e = scalarOf(operands[i].number, dtype, device).moveInto(made.emplace_back()))
      return e;
    operands[i] = Operand(made.back());
  }
  return applyBelow(Layer::Scalar, call.opDef(), operands, call.segments(), results, call.into);
}

} // namespace tess::eager
