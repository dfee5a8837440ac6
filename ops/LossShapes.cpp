//===- LossShapes.cpp - shapes of losses ---------------------------------===//
#include "ops/Checks.h"
#include "ops/RuleErrors.h"
#include "ops/ShapeRules.h"

#include "llvm/ADT/STLExtras.h"

namespace tess {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

namespace checks {

using namespace shapes;

llvm::Error cosineSimilarity(const OpDef &op, Operands operands, Segments) {
  if (operands[1].rank() > operands[0].rank())
    return mustHoldOfTwo(op, "y must not have more axes than x", operands, 0, 1);
  return llvm::Error::success();
}

} // namespace checks

namespace shapes {

/// One result: of the losses of `shape`, or of all of them together.
static Metas lossOf(const OpDef &op, Operands operands, llvm::ArrayRef<int64_t> shape) {
  return single(operands, op.str("reduction") == "none" ? shape : llvm::ArrayRef<int64_t>());
}

/// Operands are pred and label and, of some, a weight for each class.
llvm::Expected<Metas> classLoss(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &pred = operands[0], &label = operands[1];
  Shape expected = pred.shape;
  auto *axis = expected.begin() + fromFront(op.i64("axis"), pred.rank());
  int64_t classes = *axis;
  expected.erase(axis);
  bool fits = expected.size() == label.rank();
  for (unsigned i = 0; fits && i < expected.size(); ++i)
    fits = !differs(expected[i], label.shape[i]);
  if (!fits)
    return mustHoldOfTwo(op, "label must have the shape of pred without the class axis", operands, 0, 1);
  if (operands.size() > 2 && operands[2].rank() != 1)
    return mustHold(op, "weight must have rank 1", operands, 2);
  if (operands.size() > 2 && differs(operands[2].shape[0], classes))
    return mustHoldOfTwo(op, "weight must have an element for each class", operands, 0, 2);
  return lossOf(op, operands, expected);
}

/// The shape to which all operands broadcast; of those that do not the first error, which begins with `names`.
static llvm::Expected<Shape> broadcastOfAll(const OpDef &op, Operands operands, llvm::StringRef names) {
  Shape shape = operands[0].shape;
  for (unsigned i = 1; i < operands.size(); ++i)
    if (!broadcastInto(shape, operands[i].shape))
      return mustHoldOfTwo(op, names + " must broadcast", operands, 0, i);
  return shape;
}

llvm::Expected<Metas> tripletMarginLoss(const OpDef &op, Operands operands, Segments) {
  for (unsigned i = 0; i < operands.size(); ++i)
    if (operands[i].rank() == 0)
      return mustHold(op, "operands must have rank >= 1", operands, i);
  llvm::Expected<Shape> shape = broadcastOfAll(op, operands, "operands");
  if (!shape)
    return shape.takeError();
  if (op.f64("p") == 0)
    return mustHoldOf(op, "p must not be 0", toString(operands[0]) + " and p 0");
  shape->pop_back();
  return lossOf(op, operands, *shape);
}

} // namespace shapes

} // namespace tess
