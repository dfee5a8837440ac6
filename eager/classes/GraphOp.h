//===- GraphOp.h - operators of a graph as one operator ---------*- C++ -*-===//
//
// It has no record, as no operator with a body has one; no graph, file or tape
// sees it. Its class is that of its body: numbers in it are neutral, and sizes
// in it are expressions of those of its operands.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/graphs/Subgraph.h"

namespace tess::eager {

/// The operator with this body. `symbols`: for each axis of each input in turn, 1 + the symbol that stands for its size
/// in the body; 0: none does. `isSized`: the body is for the sizes of the call alone, and its class has them.
OpDef graphOp(Subgraph body, IntList symbols, bool isSized);
/// The `symbols` of such an operator, empty where no size stands in its body; empty for other operators.
llvm::ArrayRef<int64_t> symbolsOf(const OpDef &op);
/// Whether it is such an operator for the sizes of its operands alone.
bool isSized(const OpDef &op);

} // namespace tess::eager
