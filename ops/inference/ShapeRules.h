//===- ShapeRules.h - inference that no signature describes ------*- C++ -*-===//
//
// Named by a record's `shapeRule` or `boundRule`. Operand count, dtypes and the
// facts about attributes (ranges, axes, lengths) were checked before. Infer sets
// the dtypes, but for those of a record with DTypes, which its generated rule sets.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"

namespace tess::shapes {

/// Bound of a size that nothing bounds: what int32 numbers.
constexpr int64_t kNoBound = INT32_MAX;

#define TESS_SHAPE_RULE(name)                                                                                          \
  llvm::Expected<Metas> name(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned> segments)

// Notation.cpp: what follows from `compute`
TESS_SHAPE_RULE(ofNotation);

// SpatialShapes.cpp
TESS_SHAPE_RULE(conv);
TESS_SHAPE_RULE(convTranspose);
TESS_SHAPE_RULE(integerConv);
TESS_SHAPE_RULE(integerConvTranspose);
TESS_SHAPE_RULE(quantizedConv);

// FftShapes.cpp
TESS_SHAPE_RULE(fftR2c);
TESS_SHAPE_RULE(fftC2r);

// LinalgShapes.cpp
TESS_SHAPE_RULE(qr);
TESS_SHAPE_RULE(svd);
TESS_SHAPE_RULE(svdvals);

// EinsumEquation.cpp
TESS_SHAPE_RULE(einsum);

// IndexShapes.cpp
TESS_SHAPE_RULE(indexGet);
TESS_SHAPE_RULE(maskGet);
TESS_SHAPE_RULE(maskGetBound);
TESS_SHAPE_RULE(nonZero);
TESS_SHAPE_RULE(nonZeroBound);
TESS_SHAPE_RULE(extent);
TESS_SHAPE_RULE(extentBound);

// VisionShapes.cpp
TESS_SHAPE_RULE(nms);
TESS_SHAPE_RULE(nmsBound);

#undef TESS_SHAPE_RULE

} // namespace tess::shapes
