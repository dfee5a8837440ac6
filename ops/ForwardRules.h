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
TESS_FORWARD_RULE(groupNorm);
TESS_FORWARD_RULE(localResponseNorm);

// AttentionRules.cpp
TESS_FORWARD_RULE(attention);
TESS_FORWARD_RULE(attentionBackward);
TESS_FORWARD_RULE(rotaryEmbedding);

// PoolRules.cpp
TESS_FORWARD_RULE(adaptiveAvgPool);
TESS_FORWARD_RULE(adaptiveMaxPool);

// LinearRules.cpp
TESS_FORWARD_RULE(cross);

// EinsumRules.cpp
TESS_FORWARD_RULE(einsum);

// IndexRules.cpp
TESS_FORWARD_RULE(bincount);

// SoftmaxRules.cpp
TESS_FORWARD_RULE(logSumExp);

// LossRules.cpp
TESS_FORWARD_RULE(crossEntropy);
TESS_FORWARD_RULE(nllLoss);
TESS_FORWARD_RULE(klDiv);

// MovementRules.cpp
TESS_FORWARD_RULE(stack);
TESS_FORWARD_RULE(split);
TESS_FORWARD_RULE(indexingOneHot);
TESS_FORWARD_RULE(topkAccuracy);

// VisionRules.cpp
TESS_FORWARD_RULE(resize);
TESS_FORWARD_RULE(remap);
TESS_FORWARD_RULE(warpPerspective);
TESS_FORWARD_RULE(warpAffine);
TESS_FORWARD_RULE(flip);

// RoiRules.cpp
TESS_FORWARD_RULE(roiAlign);
TESS_FORWARD_RULE(roiPooling);
TESS_FORWARD_RULE(correlation);

// LocalConvRules.cpp
TESS_FORWARD_RULE(slidingWindow);
TESS_FORWARD_RULE(slidingWindowTranspose);
TESS_FORWARD_RULE(localConv2d);
TESS_FORWARD_RULE(regionRestrictedConv);
TESS_FORWARD_RULE(deformableConv2d);
TESS_FORWARD_RULE(deformablePsroiPooling);

// ColorRules.cpp
TESS_FORWARD_RULE(cvtColor);

#undef TESS_FORWARD_RULE

} // namespace tess::forwards
