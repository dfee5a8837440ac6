//===- GradientRules.h - gradients that no dag describes ---------*- C++ -*-===//
//
// Named by a record's `gradientRule`. `v`: operands, results, gradients of the
// results (-1 where none arrives). The caller sums broadcast axes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/graphs/Subgraph.h"

namespace tess::gradients {

#define TESS_GRADIENT_RULE(name)                                                                                       \
  llvm::SmallVector<int, 4> name(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v,                           \
                                 llvm::ArrayRef<bool> needed)

// GradientRules.cpp
TESS_GRADIENT_RULE(reduced); // what follows from a reduction
TESS_GRADIENT_RULE(matmul);

// ScanRules.cpp: what follows from `compute`
TESS_GRADIENT_RULE(scanned);

// PoolRules.cpp
TESS_GRADIENT_RULE(maxPoolBackward);

// IndexRules.cpp
TESS_GRADIENT_RULE(maskGet);
TESS_GRADIENT_RULE(sorted);

// FftRules.cpp
TESS_GRADIENT_RULE(fftC2c);
TESS_GRADIENT_RULE(fftR2c);
TESS_GRADIENT_RULE(fftC2r);

// LinalgRules.cpp
TESS_GRADIENT_RULE(solve);
TESS_GRADIENT_RULE(solveTriangular);
TESS_GRADIENT_RULE(matinv);
TESS_GRADIENT_RULE(adjugate);
TESS_GRADIENT_RULE(det);
TESS_GRADIENT_RULE(slogdet);
TESS_GRADIENT_RULE(cholesky);
TESS_GRADIENT_RULE(qr);
TESS_GRADIENT_RULE(eigh);
TESS_GRADIENT_RULE(svd);
TESS_GRADIENT_RULE(svdvals);

// ScanGradient.cpp; `v` ends with the sum for each operand, -1 where there is none, or has none of them
TESS_GRADIENT_RULE(scan);

#undef TESS_GRADIENT_RULE

} // namespace tess::gradients
