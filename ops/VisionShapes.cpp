//===- VisionShapes.cpp - shapes of images and what is sampled from them --===//
#include "ops/Checks.h"
#include "ops/RuleErrors.h"
#include "ops/ShapeRules.h"

#include "llvm/ADT/STLExtras.h"

namespace tess {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

namespace checks {

using namespace shapes;

llvm::Error resize(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &x = operands[0];
  if (x.rank() < 3 || x.rank() > 5)
    return mustHold(op, "x must have rank 3 to 5", operands);
  if (op.ints("size").size() != x.rank() - 2)
    return mustHoldOf(op, "size must have an entry for each axis after the channels",
                      toString(op.ints("size")) + " and x " + toString(x));
  if (llvm::is_contained(llvm::ArrayRef(x.shape).drop_front(2), 0))
    return mustHold(op, "axes after the channels must not be empty", operands);
  if (op.str("mode") == "nearest" && op.boolean("align_corners"))
    return mustHoldOf(op, "align_corners must be false where mode is nearest", "true");
  return llvm::Error::success();
}

} // namespace checks

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
