//===- NormShapes.cpp - shapes of normalisations and losses --------------===//
#include "ops/Checks.h"
#include "ops/RuleErrors.h"
#include "ops/ShapeRules.h"

namespace tess {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

namespace checks {

using namespace shapes;

/// Checks that operands 1 to 4 are parameters of shape [1, C, 1, ...] and of one dtype.
llvm::Error batchParameters(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &x = operands[0];
  if (x.rank() < 2 || x.rank() > 5)
    return mustHold(op, "x must have rank 2 to 5", operands);
  for (unsigned i = 1; i < operands.size(); ++i) {
    const TensorMeta &p = operands[i];
    bool fits = p.rank() == x.rank();
    for (unsigned axis = 0; fits && axis < p.rank(); ++axis)
      fits = !differs(p.shape[axis], axis == 1 ? x.shape[1] : 1);
    if (!fits)
      return mustHoldOfTwo(op, "parameters must have shape [1, C, 1, ...] for x [N, C, ...]", operands, 0, i);
    if (p.dtype != operands[1].dtype)
      return mustHoldOfTwo(op, "parameters must have one dtype", operands, 1, i);
  }
  return llvm::Error::success();
}

llvm::Error trailingNorm(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &x = operands[0];
  int64_t axes = op.i64("axes");
  if (axes > x.rank())
    return mustHoldOf(op, "axes must not be above the rank of x", llvm::Twine(axes) + " and x " + toString(x));
  for (unsigned i = 1; i < operands.size(); ++i) {
    const TensorMeta &p = operands[i];
    bool fits = p.rank() == axes;
    for (int64_t axis = 0; fits && axis < axes; ++axis)
      fits = !differs(p.shape[axis], x.shape[x.rank() - axes + axis]);
    if (!fits)
      return mustHoldOfTwo(op, "parameters must have the last axes of x", operands, 0, i);
    if (p.dtype != x.dtype)
      return mustHoldOfTwo(op, "operands must have one dtype", operands, 0, i);
  }
  return llvm::Error::success();
}

} // namespace checks

namespace shapes {

llvm::Expected<Metas> batchNorm(const OpDef &op, Operands operands, Segments segments) {
  if (llvm::Error e = checks::batchParameters(op, operands, segments))
    return std::move(e);
  TensorMeta statistic(operands[1].dtype, operands[1].shape);
  statistic.shape[1] = operands[0].shape[1] != kUnknown ? operands[0].shape[1] : statistic.shape[1];
  return Metas{TensorMeta(operands[0].dtype, operands[0].shape), statistic, statistic, statistic, statistic};
}

static bool isReduced(const OpDef &op) { return op.str("reduction") != "none"; }

llvm::Expected<Metas> crossEntropy(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &pred = operands[0], &label = operands[1];
  Shape expected = pred.shape;
  expected.erase(expected.begin() + fromFront(op.i64("axis"), pred.rank()));
  bool fits = expected.size() == label.rank();
  for (unsigned i = 0; fits && i < expected.size(); ++i)
    fits = !differs(expected[i], label.shape[i]);
  if (!fits)
    return mustHoldOfTwo(op, "label must have the shape of pred without the class axis", operands, 0, 1);
  return single(operands, isReduced(op) ? Shape() : expected);
}

llvm::Expected<Metas> pairLoss(const OpDef &op, Operands operands, Segments) {
  Shape shape = operands[0].shape;
  if (!broadcastInto(shape, operands[1].shape))
    return mustHoldOfTwo(op, "pred and label must broadcast", operands, 0, 1);
  return single(operands, isReduced(op) ? Shape() : shape);
}

} // namespace shapes

} // namespace tess
