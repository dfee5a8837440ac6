//===- Checks.h - conditions beyond a signature ------------------*- C++ -*-===//
//
// Named by a record's `check`; called when the signature has matched, so ranks
// that it fixes are right. In the file of the family's shape rules.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess::checks {

#define TESS_CHECK(name)                                                                                               \
  llvm::Error name(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned> segments)

// FftShapes.cpp
TESS_CHECK(fft);

// ReductionShapes.cpp
TESS_CHECK(reducible);

// SpatialShapes.cpp
TESS_CHECK(convBackwardData);
TESS_CHECK(convBackwardWeight);
TESS_CHECK(maxPoolBackward);
TESS_CHECK(avgPoolBackward);

// ExactSums.cpp
TESS_CHECK(integerMatmul);

// IndexShapes.cpp
TESS_CHECK(indexSet);

#undef TESS_CHECK

} // namespace tess::checks
