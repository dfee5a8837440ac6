//===- Call.h - a call on its way down the stack ----------------*- C++ -*-===//
//
// A call carries one bit for every transformation that still has to see it, so
// that one that is not needed costs nothing. Each is a function in a file of
// its own; it changes the call and hands it on with next(). eager/Eager.cpp
// fills the table of these functions.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Operator.h"

#include <atomic>

namespace tess::eager {

/// The layers, in the order of the stack.
enum class Layer : uint8_t {
  Autocast,
  Scalar,
  DimExpansion,
  DTypePromotion,
  Quantize,
  Grid,
  Format,
  Grad,
  Tracing,
  CheckFinite,
  CheckOperands,
  Interpreter
};
constexpr unsigned kNumLayers = 12;
constexpr uint32_t bitOf(Layer layer) { return 1u << unsigned(layer); }

/// A call on its way down the stack.
struct Call {
  const Operator &op;
  llvm::ArrayRef<Operand> operands;
  /// Layers that still have to see the call; Interpreter is always the last.
  uint32_t pending;
  /// Null: the results have memory of their own.
  const Destination *into = nullptr;

  /// Operator and segments of a call for which isOpDef() holds.
  const OpDef &opDef() const { return static_cast<const OpDefOperator &>(op).op; }
  llvm::ArrayRef<unsigned> segments() const { return static_cast<const OpDefOperator &>(op).segments; }
  bool isOpDef() const { return op.kind == OperatorKind::OpDef; }
};

/// Appends the results, hidden ones too, to `results`, which is empty: no layer moves them on its way out.
using Transformation = llvm::Error (*)(Call &call, Tensors &results);

/// Makes `transformation` what `layer` does. Until then, a call that needs the layer is an error.
void setTransformation(Layer layer, Transformation transformation);
/// Hands the call to the next pending layer.
llvm::Error next(Call &call, Tensors &results);
/// Which layers are switched on for this thread: bits of Autocast, Grad and Tracing.
extern constinit thread_local uint32_t activeLayers;

/// Takes a layer out of the stack, or puts it back, for all threads.
void disableLayer(Layer layer, bool disabled);
/// The layers that take part in the stack.
extern constinit std::atomic<uint32_t> enabledLayers;
inline uint32_t enabled(uint32_t layers) { return layers & enabledLayers.load(std::memory_order_relaxed); }

} // namespace tess::eager
