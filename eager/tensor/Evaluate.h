//===- Evaluate.h - the operators of a Subgraph, one by one -----*- C++ -*-===//
#pragma once

#include "eager/tensor/Operator.h"
#include "ops/graphs/Subgraph.h"

namespace tess::eager {

/// Appends the results of one node for its operands.
using ApplyNode =
    llvm::function_ref<llvm::Error(const Subgraph::Node &node, llvm::ArrayRef<Operand> operands, Tensors &results)>;

/// Applies the nodes of `graph` in order and returns its outputs, null ones where it has none. `operands`: one for each
/// input, null where no node reads it. A value is dropped after its last use. `hasBodySizes`: operators may have sizes
/// that are those of values of `graph` (ops/graphs/Control.h); they are applied with the numbers.
llvm::Expected<Tensors> evaluate(const Subgraph &graph, llvm::ArrayRef<Operand> operands, ApplyNode applyNode,
                                 bool hasBodySizes = false);

} // namespace tess::eager
