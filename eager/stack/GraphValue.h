//===- GraphValue.h - tensors that stand for values of a graph --*- C++ -*-===//
//
// A value of a graph that is edited (ir/Node.h) as a tensor, so that every
// function takes it: an operator that has one among its operands runs nothing
// and becomes a node. Other tensors become constants of it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Operator.h"
#include "ir/Node.h"

namespace tess::eager {

/// Whether the process ever had such a tensor: without one no call asks further.
extern std::atomic<bool> hasGraphValues;

/// The tensor that stands for `var`: the one that lives, or a new one. It has no memory; an expression among its sizes
/// is an example there (ir/FreeSizes.h).
TensorRef tensorOf(const ir::Var &var);
/// What a tensor with isGraphValue() stands for.
const ir::Var &varOf(const TensorImpl &tensor);
/// Makes `tensor`, a graph value, and not the one that did, stand for `var`.
void standFor(TensorImpl &tensor, const ir::Var &var);
/// The value of another tensor as a node.
llvm::Expected<ir::NodeRef> constantOf(TensorImpl &tensor);

/// Whether one of the operands is such a tensor.
inline bool hasGraphValue(llvm::ArrayRef<Operand> operands) {
  for (const Operand &operand : operands)
    if (operand.tensor && operand.tensor->isGraphValue())
      return true;
  return false;
}
/// Whether a call becomes a node: an operand is such a tensor, or a size is one of them.
inline bool isOfGraph(const OpDefOperator &call, llvm::ArrayRef<Operand> operands) {
  return hasGraphValue(operands) || (call.recorded && ir::hasNodeSymbols(*call.recorded));
}
/// A bit for each axis of a tensor whose size is free, where it is a graph value: only a run of its program knows it.
uint32_t graphFreeAxes(const TensorImpl &tensor);
/// Whether what is done to the tensor is written down for other sizes, too: in a recording, or in a network.
bool isWrittenDown(const TensorImpl &tensor);
/// Whether that holds of one of them; in a recording of none, too.
bool isWrittenDown(llvm::ArrayRef<TensorRef> tensors);
/// Makes `op` a node; its results are graph values. All operands are tensors.
llvm::Error applyToGraph(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments,
                         Tensors &results);

} // namespace tess::eager
