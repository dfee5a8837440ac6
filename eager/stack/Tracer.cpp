//===- Tracer.cpp - what watches the calls of a thread --------------------===//
#include "eager/stack/Tracer.h"

#include "eager/stack/Call.h"

namespace tess::eager {

static constinit thread_local Tracer *current = nullptr;

void setTracer(Tracer *tracer) {
  current = tracer;
  activeLayers = tracer ? activeLayers | bitOf(Layer::Tracing) : activeLayers & ~bitOf(Layer::Tracing);
}

Tracer *activeTracer() { return current; }

} // namespace tess::eager
