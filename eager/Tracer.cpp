//===- Tracer.cpp - calls and updates go to the thread's tracer -----------===//
#include "eager/Tracer.h"

#include "eager/Apply.h"
#include "eager/Transformations.h"

namespace tess::eager {

static constinit thread_local Tracer *current = nullptr;

void setTracer(Tracer *tracer) {
  current = tracer;
  activeLayers = tracer ? activeLayers | bitOf(Layer::Tracing) : activeLayers & ~bitOf(Layer::Tracing);
}

Tracer *activeTracer() { return current; }

llvm::Error applyTracing(Call &call, Tensors &results) { return current->apply(call, results); }

void assign(TensorImpl &variable, TensorImpl &value) {
  if (current)
    current->noteAssign(variable, value);
  variable.rebind(value);
}

} // namespace tess::eager
