//===- VisionShapes.cpp - shapes of images and what is sampled from them --===//
#include "ops/inference/RuleErrors.h"
#include "ops/inference/ShapeRules.h"

namespace tess {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

namespace shapes {

static llvm::Expected<Metas> taken(const OpDef &op, Operands operands, bool bound) {
  const Shape &boxes = operands[0].shape, &scores = operands[1].shape;
  if (boxes.size() != 2)
    return mustHold(op, "boxes must have rank 2", operands);
  if (scores.size() != 1)
    return mustHold(op, "scores must have rank 1", operands, 1);
  if (differs(boxes[1], 4))
    return mustHold(op, "boxes must have four ends each", operands);
  if (differs(boxes[0], scores[0]))
    return mustHoldOfTwo(op, "there must be a score for each box", operands, 0, 1);
  if (!bound)
    return Metas{TensorMeta(DType::Int32, {kUnknown})};
  int64_t count = sizes::agreed(boxes[0], scores[0]);
  const AttrValue &most = op.attr("max_output");
  return Metas{TensorMeta(DType::Int32, {most.kind() == AttrKind::None ? count : sizes::minimum(count, most.i64())})};
}

llvm::Expected<Metas> nms(const OpDef &op, Operands operands, Segments) { return taken(op, operands, false); }
llvm::Expected<Metas> nmsBound(const OpDef &op, Operands operands, Segments) { return taken(op, operands, true); }

} // namespace shapes

} // namespace tess
