//===- GradientRules.h - gradients that no dag describes ---------*- C++ -*-===//
//
// Named by a record's `gradientRule`. `v`: operands, results, gradients of the
// results (-1 where none arrives). The caller sums broadcast axes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/Subgraph.h"

namespace tess::gradients {

#define TESS_GRADIENT_RULE(name)                                                                                       \
  llvm::SmallVector<int, 4> name(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v,                           \
                                 llvm::ArrayRef<bool> needed)

// GradientRules.cpp
TESS_GRADIENT_RULE(sum);
TESS_GRADIENT_RULE(mean);
TESS_GRADIENT_RULE(prod);
TESS_GRADIENT_RULE(extremum);
TESS_GRADIENT_RULE(matmul);
TESS_GRADIENT_RULE(transpose);
TESS_GRADIENT_RULE(slice);

#undef TESS_GRADIENT_RULE

} // namespace tess::gradients
