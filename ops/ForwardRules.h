//===- ForwardRules.h - composites that no dag describes ---------*- C++ -*-===//
//
// Named by a record's Composite<...>. A rule appends the operators and returns
// one value for each result.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/Subgraph.h"

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
