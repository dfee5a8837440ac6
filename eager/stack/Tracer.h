//===- Tracer.h - what watches the calls of a thread ------------*- C++ -*-===//
//
// All that the stack knows of recordings (eager/tracing): while a thread
// records, every call of it goes through its tracer, and every update is told.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Operator.h"

#include <optional>

namespace tess::eager {

struct Call;

/// The layer Tracing of one thread.
class Tracer {
public:
  /// As a Transformation.
  virtual llvm::Error apply(Call &call, Tensors &results) = 0;
  /// Called before `variable` takes over the value of `value`.
  virtual void noteAssign(TensorImpl &variable, TensorImpl &value) = 0;
  /// Called before another variable takes over the value of `tensor`.
  virtual void noteUse(TensorImpl &tensor) = 0;
  /// Called before a copy of `tensor` is made on another device, as a constant of the recording. An error where the
  /// recording runs nothing, unless the tensor is such a constant.
  virtual llvm::Error noteMove(const TensorImpl &tensor, const runtime::Device &to) = 0;
  /// The shape of `tensor` by the sizes of the recording's arguments (ops/vocabulary/SizeExpr.h), until the next
  /// operator; none for a tensor from outside.
  virtual std::optional<llvm::ArrayRef<int64_t>> symbolicShape(const TensorImpl &tensor) = 0;
  /// Names the recording, whose symbols no other recording knows.
  virtual uint32_t number() const = 0;
  /// The size of the recorded call that a symbol of symbolicShape() stands for.
  virtual int64_t sizeOf(uint32_t symbol) const = 0;

protected:
  ~Tracer() = default;
};
/// Sets this thread's tracer, which is not owned, and switches the layer on; null: off.
void setTracer(Tracer *tracer);
/// This thread's tracer, or null.
Tracer *activeTracer();

} // namespace tess::eager
