//===- IndexShapes.cpp - shapes of indexed elements ----------------------===//
#include "ops/inference/Checks.h"
#include "ops/inference/RuleErrors.h"
#include "ops/inference/ShapeRules.h"
#include "ops/vocabulary/BroadcastCounts.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::shapes {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

/// The attribute `axes`, which has an axis for each index.
static llvm::Expected<const IntList &> axesOf(const OpDef &op, Operands indices) {
  const IntList &axes = op.ints("axes");
  if (axes.size() != indices.size() || axes.empty())
    return mustHoldOf(op, "there must be an index for each axis of axes",
                      llvm::Twine(indices.size()) + " and axes " + toString(axes));
  return axes;
}

/// The shape of the elements that `indices` pick from x along `axes`.
static llvm::Expected<Shape> pickedShape(const OpDef &op, const TensorMeta &x, Operands indices) {
  llvm::Expected<const IntList &> axes = axesOf(op, indices);
  if (!axes)
    return axes.takeError();
  Shape common;
  std::string list;
  for (unsigned i = 0; i < indices.size(); ++i) {
    list += (i ? " and " : "") + toString(indices[i]);
    if (!broadcastCounts(common, indices[i].shape))
      return mustHoldOf(op, "indices must broadcast", list);
  }
  uint32_t mask = 0;
  for (int64_t axis : *axes)
    mask |= 1u << fromFront(axis, x.rank());
  unsigned first = llvm::countr_zero(mask);
  bool areNeighbours = ((mask >> first) & ((mask >> first) + 1)) == 0;
  Shape shape;
  if (!areNeighbours)
    shape.append(common);
  for (unsigned i = 0; i < x.rank(); ++i) {
    if (areNeighbours && i == first)
      shape.append(common);
    if (!(mask >> i & 1))
      shape.push_back(x.shape[i]);
  }
  if (shape.size() > kMaxRank)
    return mustHoldOf(op, "rank of the result must be <= " + llvm::Twine(kMaxRank), toString(shape));
  return shape;
}

llvm::Expected<Metas> indexGet(const OpDef &op, Operands operands, Segments) {
  llvm::Expected<Shape> shape = pickedShape(op, operands[0], operands.drop_front());
  if (!shape)
    return shape.takeError();
  return single(operands, *shape);
}

static llvm::Expected<Metas> masked(const OpDef &op, Operands operands, bool bound) {
  const TensorMeta &x = operands[0], &mask = operands[1];
  bool fits = mask.rank() >= 1 && mask.rank() <= x.rank();
  for (unsigned i = 0; fits && i < mask.rank(); ++i)
    fits = !differs(mask.shape[i], x.shape[i]);
  if (!fits)
    return mustHoldOfTwo(op, "mask must have the first axes of x, at least one", operands, 0, 1);
  Shape shape = {bound ? mask.numElements() : kUnknown};
  shape.append(x.shape.begin() + mask.rank(), x.shape.end());
  return single(operands, shape);
}

llvm::Expected<Metas> maskGet(const OpDef &op, Operands operands, Segments) { return masked(op, operands, false); }
llvm::Expected<Metas> maskGetBound(const OpDef &op, Operands operands, Segments) { return masked(op, operands, true); }

llvm::Expected<Metas> nonZero(const OpDef &op, Operands operands, Segments) {
  if (llvm::Error e = fitsInt32(op, operands, ~0u))
    return std::move(e);
  return Metas{TensorMeta(DType::Int32, {kUnknown, int64_t(operands[0].rank())})};
}

llvm::Expected<Metas> nonZeroBound(const OpDef &, Operands operands, Segments) {
  return Metas{TensorMeta(DType::Int32, {operands[0].numElements(), int64_t(operands[0].rank())})};
}

llvm::Expected<Metas> extent(const OpDef &op, Operands operands, Segments) {
  if (operands[0].rank())
    return mustHoldOf(op, "n must have rank 0", "n " + toString(operands[0]));
  return Metas{TensorMeta(DType::Int32, {kUnknown, 0})};
}

llvm::Expected<Metas> extentBound(const OpDef &, Operands, Segments) {
  return Metas{TensorMeta(DType::Int32, {kNoBound, 0})};
}

} // namespace tess::shapes

namespace tess::checks {

using namespace shapes;

llvm::Error indexSet(const OpDef &op, Operands operands, Segments) {
  llvm::Expected<Shape> shape = pickedShape(op, operands[0], operands.drop_front(2));
  if (!shape)
    return shape.takeError();
  if (!broadcastsTo(operands[1].shape, *shape))
    return mustHoldOf(op, "value must broadcast to the indexed elements",
                      "value " + toString(operands[1]) + " and elements " + toString(*shape));
  return llvm::Error::success();
}

} // namespace tess::checks
