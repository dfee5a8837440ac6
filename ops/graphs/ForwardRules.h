//===- ForwardRules.h - composites that no dag describes ---------*- C++ -*-===//
//
// Named by a record's Composite<...>. A rule appends the operators and returns
// one value for each result.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/graphs/Subgraph.h"

namespace tess::forwards {

#define TESS_FORWARD_RULE(name)                                                                                        \
  llvm::SmallVector<int, 4> name(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> operands)

// EinsumRules.cpp
TESS_FORWARD_RULE(einsum);

// IndexRules.cpp
TESS_FORWARD_RULE(indexAdd);
TESS_FORWARD_RULE(indexGet);
TESS_FORWARD_RULE(indexSet);

#undef TESS_FORWARD_RULE

} // namespace tess::forwards

namespace tess::shapes {

/// The metas that the forward graph of a composite gives its results (OperatorGraphs.cpp).
llvm::Expected<Metas> ofForward(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                llvm::ArrayRef<unsigned> segments);

} // namespace tess::shapes

namespace tess::channels {

/// The axis of the channels that the forward graph of a composite gives result number `result`; -1: there is none, or
/// its operators refuse the operands.
int ofForward(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, int axis, unsigned result);

} // namespace tess::channels
