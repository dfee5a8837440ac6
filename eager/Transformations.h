//===- Transformations.h - the stack ----------------------------*- C++ -*-===//
//
// A call carries one bit for every transformation that still has to see it, so
// that one that is not needed costs nothing. Each is a function in a file of
// its own; it changes the call and hands it on with next().
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Operator.h"

namespace tess::eager {

/// The layers, in the order of the stack.
enum class Layer : uint8_t {
  Autocast,
  Scalar,
  DimExpansion,
  DTypePromotion,
  Quantize,
  Format,
  Grad,
  Tracing,
  CheckFinite,
  CheckOperands,
  Interpreter
};
constexpr unsigned kNumLayers = 11;
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

/// One Transformation for each Layer, in a file of its name (that of Tracing is Tracer.cpp).
llvm::Error applyAutocast(Call &call, Tensors &results);
llvm::Error applyScalar(Call &call, Tensors &results);
llvm::Error applyDimExpansion(Call &call, Tensors &results);
llvm::Error applyDTypePromotion(Call &call, Tensors &results);
llvm::Error applyQuantize(Call &call, Tensors &results);
llvm::Error applyFormat(Call &call, Tensors &results);
llvm::Error applyGrad(Call &call, Tensors &results);
llvm::Error applyTracing(Call &call, Tensors &results);
llvm::Error applyCheckFinite(Call &call, Tensors &results);
llvm::Error applyCheckOperands(Call &call, Tensors &results);
llvm::Error interpret(Call &call, Tensors &results);

/// Hands the call to the next pending layer.
llvm::Error next(Call &call, Tensors &results);
/// As next(), for an operator that the layer `after` puts in the place of the call: only later layers see it.
llvm::Error applyBelow(Layer after, const OpDef &op, llvm::ArrayRef<Operand> operands,
                       llvm::ArrayRef<unsigned> segments, Tensors &results, const Destination *into = nullptr);

/// Which layers are switched on for this thread: bits of Autocast, Grad and Tracing.
extern constinit thread_local uint32_t activeLayers;

/// Takes a layer out of the stack, or puts it back: only for tests, which see a result change.
void disableLayer(Layer layer, bool disabled);

/// Bits of the layers from `first` on that `op` needs for these operands.
uint32_t neededLayers(const OpDef &op, llvm::ArrayRef<Operand> operands, Layer first = Layer::Autocast);

} // namespace tess::eager
