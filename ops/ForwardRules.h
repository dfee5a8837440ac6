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

// ForwardRules.cpp
TESS_FORWARD_RULE(sumTo);
TESS_FORWARD_RULE(reshapeLike);
TESS_FORWARD_RULE(broadcastLike);
TESS_FORWARD_RULE(linear);
TESS_FORWARD_RULE(linspace);

#undef TESS_FORWARD_RULE

} // namespace tess::forwards
