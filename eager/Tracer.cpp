//===- Tracer.cpp - calls and updates go to the thread's tracer -----------===//
#include "eager/Tracer.h"

#include "eager/Apply.h"
#include "eager/Transformations.h"

namespace tess::eager {

static constinit thread_local Tracer *activeTracer = nullptr;

void setTracer(Tracer *tracer) {
  activeTracer = tracer;
  activeLayers = tracer ? activeLayers | bitOf(Layer::Tracing) : activeLayers & ~bitOf(Layer::Tracing);
}

llvm::Error applyTracing(Call &call, Tensors &results) { return activeTracer->apply(call, results); }

void assign(TensorImpl &variable, TensorImpl &value) {
  if (activeTracer)
    activeTracer->noteAssign(variable, value);
  variable.rebind(value);
}

} // namespace tess::eager
