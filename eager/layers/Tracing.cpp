//===- Tracing.cpp - calls go to the thread's tracer, or become nodes -----===//
#include "eager/layers/Layers.h"
#include "eager/stack/GraphValue.h"
#include "eager/stack/Tracer.h"

namespace tess::eager {

llvm::Error applyTracing(Call &call, Tensors &results) {
  if (Tracer *tracer = activeTracer())
    return tracer->apply(call, results);
  const OpDef *recorded = static_cast<const OpDefOperator &>(call.op).recorded;
  return applyToGraph(recorded ? *recorded : call.opDef(), call.operands, call.segments(), results);
}

} // namespace tess::eager
