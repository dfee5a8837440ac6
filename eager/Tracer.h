//===- Tracer.h - what watches the calls of a thread ------------*- C++ -*-===//
//
// All that the stack knows of recordings (eager/tracing): while a thread
// records, every call of it goes through its tracer, and every update is told.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Tensor.h"

namespace tess::eager {

struct Call;

/// The layer Tracing of one thread.
class Tracer {
public:
  /// As a Transformation.
  virtual llvm::Error apply(Call &call, Tensors &results) = 0;
  /// Called before `variable` takes over the value of `value`.
  virtual void noteAssign(TensorImpl &variable, TensorImpl &value) = 0;

protected:
  ~Tracer() = default;
};
/// Sets this thread's tracer, which is not owned, and switches the layer on; null: off.
void setTracer(Tracer *tracer);

} // namespace tess::eager
