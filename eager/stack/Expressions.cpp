//===- Expressions.cpp - calls whose sizes may be expressions -------------===//
#include "eager/stack/Expressions.h"

#include "eager/stack/Apply.h"
#include "eager/stack/GraphValue.h"
#include "eager/stack/Tracer.h"
#include "eager/tensor/Placement.h"

namespace tess::eager {

llvm::ArrayRef<int64_t> recordedShape(const TensorImpl &tensor) {
  if (tensor.isGraphValue())
    return varOf(tensor).meta().shape;
  Tracer *tracer = activeTracer();
  return tracer ? tracer->symbolicShape(tensor).value_or(tensor.shape()) : tensor.shape();
}

llvm::Error applyExpressions(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments,
                             Tensors &results) {
  Tracer *tracer = activeTracer();
  bool isPlain = !tracer && !hasGraphValues.load(std::memory_order_relaxed);
  if (LLVM_LIKELY(isPlain) || !op.hasExpressions())
    return apply(op, operands, segments, results);
  if (!tracer && (hasGraphValue(operands) || ir::hasNodeSymbols(op)))
    return applyToGraph(op, operands, segments, results);
  if (!tracer) // a size of a recording that has ended
    return apply(op, operands, segments, results);
  OpDef numbers = op.withSymbols(
      [&](uint32_t symbol) { return ir::isNodeSymbol(symbol) ? ir::exampleOf(symbol) : tracer->sizeOf(symbol); });
  return applyRecorded(numbers, op, operands, segments, results);
}

llvm::Expected<TensorRef> applyExpressions(const OpDef &op, llvm::ArrayRef<Operand> operands) {
  Tensors results;
  if (llvm::Error e = applyExpressions(op, operands, {}, results))
    return std::move(e);
  return std::move(results.front());
}

llvm::Error applyNormalised(OpDef op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments,
                            Tensors &results) {
  const OpInfo &info = op.info();
  if (!info.normalise)
    return apply(op, operands, segments, results);
  bool isRecorded = info.hasSizes() && (activeTracer() || hasGraphValue(operands));
  OpDef recorded = isRecorded ? op : OpDef();
  if (llvm::Error e = info.normalise(op, metasOf(operands)))
    return e;
  return isRecorded ? applyRecorded(op, recorded, operands, segments, results) : apply(op, operands, segments, results);
}

llvm::Expected<TensorRef> scalarOf(Number number, DType dtype, runtime::Device *device) {
  if (LLVM_LIKELY(!number.sizeHandle))
    return createScalar(number, dtype, device);
  OnDevice here(device ? *device : creationDevice());
  return applyExpressions(OpDef::get("scalar_tensor").set("value", number.recorded()).set("dtype", dtype));
}

} // namespace tess::eager
