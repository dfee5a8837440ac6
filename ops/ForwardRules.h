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
TESS_FORWARD_RULE(linear);
TESS_FORWARD_RULE(linspace);

// NormRules.cpp
TESS_FORWARD_RULE(batchNorm);
TESS_FORWARD_RULE(batchNormInference);
TESS_FORWARD_RULE(layerNorm);
TESS_FORWARD_RULE(rmsNorm);
TESS_FORWARD_RULE(norm);
TESS_FORWARD_RULE(normalize);

// AttentionRules.cpp
TESS_FORWARD_RULE(attention);
TESS_FORWARD_RULE(attentionBackward);

// PoolRules.cpp
TESS_FORWARD_RULE(adaptiveAvgPool2d);

// SoftmaxRules.cpp
TESS_FORWARD_RULE(softmax);
TESS_FORWARD_RULE(logSoftmax);
TESS_FORWARD_RULE(logSumExp);
TESS_FORWARD_RULE(oneHot);
TESS_FORWARD_RULE(crossEntropy);
TESS_FORWARD_RULE(squareLoss);
TESS_FORWARD_RULE(l1Loss);

// MovementRules.cpp
TESS_FORWARD_RULE(stack);
TESS_FORWARD_RULE(split);
TESS_FORWARD_RULE(repeat);
TESS_FORWARD_RULE(tile);
TESS_FORWARD_RULE(indexingOneHot);

#undef TESS_FORWARD_RULE

} // namespace tess::forwards
