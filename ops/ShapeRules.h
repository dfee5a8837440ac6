//===- ShapeRules.h - inference that no signature describes ------*- C++ -*-===//
//
// Named by a record's `shapeRule` or `boundRule`. Operand count, dtypes and the
// facts about attributes (ranges, axes, lengths) were checked before. A rule
// whose record says RuleGives sets the dtypes too; others leave that to Infer.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/OpDef.h"

namespace tess::shapes {

#define TESS_SHAPE_RULE(name)                                                                                          \
  llvm::Expected<Metas> name(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned> segments)

// ReductionShapes.cpp
TESS_SHAPE_RULE(reduce);
TESS_SHAPE_RULE(sum);
TESS_SHAPE_RULE(reduceNonEmpty);
TESS_SHAPE_RULE(sumTo);

// ViewShapes.cpp
TESS_SHAPE_RULE(reshape);
TESS_SHAPE_RULE(transpose);
TESS_SHAPE_RULE(expandDims);
TESS_SHAPE_RULE(squeeze);
TESS_SHAPE_RULE(broadcastTo);
TESS_SHAPE_RULE(slice);
TESS_SHAPE_RULE(flatten);
TESS_SHAPE_RULE(swapaxes);
TESS_SHAPE_RULE(reshapeLike);
TESS_SHAPE_RULE(broadcastLike);

#undef TESS_SHAPE_RULE

} // namespace tess::shapes
