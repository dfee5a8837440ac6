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

/// Of operators that take pixels of images [N, C, H, W].
llvm::Error sampled(const OpDef &op, Operands operands, Segments) {
  const Shape &x = operands[0].shape;
  if (x[2] == 0 || x[3] == 0)
    return mustHold(op, "height and width of x must not be 0", operands);
  return llvm::Error::success();
}

llvm::Error deformablePsroiPooling(const OpDef &op, Operands operands, Segments segments) {
  if (!op.boolean("no_trans")) {
    int64_t channels = operands[0].shape[1], pairs = operands[2].shape[1];
    bool isKnown = channels >= 0 && pairs >= 0;
    if (isKnown && (pairs == 0 || pairs % 2 || channels % (pairs / 2)))
      return mustHoldOfTwo(op, "trans must have two channels for each block of channels of x", operands, 0, 2);
  }
  return sampled(op, operands, segments);
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

/// The number of windows of `size` elements in `room`, `stride` apart; -1 when not even one fits.
static int64_t windowsIn(int64_t room, int64_t size, int64_t stride) {
  int64_t rest = sizes::subtract(room, size);
  if (rest != kUnknown && !sizes::isSymbolic(rest) && rest < 0)
    return -1;
  return sizes::add(sizes::floorDivide(rest, stride), 1);
}

llvm::Expected<Metas> correlation(const OpDef &op, Operands operands, Segments) {
  for (unsigned i : {0u, 1u})
    if (operands[i].rank() != 4)
      return mustHold(op, "operands must have rank 4", operands, i);
  const Shape &x = operands[0].shape, &y = operands[1].shape;
  for (unsigned axis = 0; axis < 4; ++axis)
    if (differs(x[axis], y[axis]))
      return mustHoldOfTwo(op, "x and y must have the same shape", operands, 0, 1);
  int64_t kernel = op.i64("kernel_size"), most = op.i64("max_displacement");
  if (kernel % 2 == 0)
    return mustHoldOf(op, "kernel_size must be odd", llvm::Twine(kernel));
  int64_t places = 2 * (most / op.i64("stride2")) + 1;
  Shape shape = {sizes::agreed(x[0], y[0]), places * places};
  for (unsigned axis : {2u, 3u}) {
    int64_t room = sizes::add(sizes::agreed(x[axis], y[axis]), 2 * op.i64("pad_size") - 2 * most);
    shape.push_back(windowsIn(room, kernel, op.i64("stride1")));
    if (shape.back() == -1)
      return mustHold(op, "patches and their displacements must fit into the padded images", operands);
  }
  return single(operands, shape);
}

} // namespace shapes

} // namespace tess
