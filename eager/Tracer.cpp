//===- Tracer.cpp - calls and updates go to the thread's tracer -----------===//
#include "eager/Tracer.h"

#include "eager/Apply.h"
#include "eager/GraphValue.h"
#include "eager/Recomputation.h"
#include "eager/Transformations.h"

namespace tess::eager {

static constinit thread_local Tracer *current = nullptr;

void setTracer(Tracer *tracer) {
  current = tracer;
  activeLayers = tracer ? activeLayers | bitOf(Layer::Tracing) : activeLayers & ~bitOf(Layer::Tracing);
}

Tracer *activeTracer() { return current; }

llvm::ArrayRef<int64_t> recordedShape(const TensorImpl &tensor) {
  if (tensor.isGraphValue())
    return varOf(tensor).meta().shape;
  return current ? current->symbolicShape(tensor).value_or(tensor.shape()) : tensor.shape();
}

llvm::Error applyExpressions(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments,
                             Tensors &results) {
  bool isPlain = !current && !hasGraphValues.load(std::memory_order_relaxed);
  if (LLVM_LIKELY(isPlain) || !op.hasExpressions())
    return apply(op, operands, segments, results);
  if (!current && (hasGraphValue(operands) || ir::hasNodeSymbols(op)))
    return applyToGraph(op, operands, segments, results);
  if (!current) // a size of a recording that has ended
    return apply(op, operands, segments, results);
  OpDef numbers = op.withSymbols(
      [](uint32_t symbol) { return ir::isNodeSymbol(symbol) ? ir::exampleOf(symbol) : current->sizeOf(symbol); });
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
  bool isRecorded = info.hasSizes() && (current || hasGraphValue(operands));
  OpDef recorded = isRecorded ? op : OpDef();
  if (llvm::Error e = info.normalise(op, metasOf(operands)))
    return e;
  return isRecorded ? applyRecorded(op, recorded, operands, segments, results) : apply(op, operands, segments, results);
}

llvm::Error applyTracing(Call &call, Tensors &results) {
  if (current)
    return current->apply(call, results);
  const OpDef *recorded = static_cast<const OpDefOperator &>(call.op).recorded;
  return applyToGraph(recorded ? *recorded : call.opDef(), call.operands, call.segments(), results);
}

void assign(TensorImpl &variable, TensorImpl &value) {
  noteUpdate(variable);
  if (current)
    current->noteAssign(variable, value);
  variable.rebind(value);
}

} // namespace tess::eager
