//===- ViewShapes.cpp - shapes of views ----------------------------------===//
#include "ops/Checks.h"
#include "ops/RuleErrors.h"
#include "ops/ShapeRules.h"
#include "ops/SizeExpr.h"
#include "ops/ViewRules.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::shapes {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

/// The size that completes a shape, `count / rest`; kUnknown when it is not known.
static llvm::Expected<int64_t> inferredEntry(const OpDef &op, Operands operands, int64_t count, int64_t rest) {
  if (sizes::isSymbolic(count) || sizes::isSymbolic(rest))
    return sizes::floorDivide(count, rest);
  if (count == kUnknown || rest == kUnknown)
    return kUnknown;
  if (rest == 0 || count % rest != 0)
    return mustHoldOf(op, "number of elements must stay the same",
                      llvm::Twine("x ") + toString(operands[0]) + " and shape " + toString(op.ints("shape")));
  return count / rest;
}

llvm::Expected<Metas> reshape(const OpDef &op, Operands operands, Segments) {
  const IntList &target = op.ints("shape");
  int64_t rest = 1, count = operands[0].numElements();
  int open = -1;
  for (unsigned i = 0; i < target.size(); ++i) {
    bool isNumber = !sizes::isSymbolic(target[i]);
    if (isNumber && (target[i] < -1 || (target[i] == -1 && open >= 0)))
      return mustHoldOf(op, "shape must have at most one -1 and otherwise entries >= 0", toString(target));
    if (target[i] == -1)
      open = i;
    else if (!isNumber || sizes::isSymbolic(rest) || rest == kUnknown)
      rest = sizes::multiply(rest, target[i]);
    else if (__builtin_mul_overflow(rest, target[i], &rest))
      rest = INT64_MAX; // more than any tensor has; a later 0 makes it 0 again
  }
  if (target.size() > kMaxRank)
    return mustHoldOf(op, "shape must have at most " + llvm::Twine(kMaxRank) + " entries", toString(target));
  Shape shape(target.begin(), target.end());
  if (open >= 0) {
    llvm::Expected<int64_t> entry = inferredEntry(op, operands, count, rest);
    if (!entry)
      return entry.takeError();
    shape[open] = *entry;
  } else if (differs(count, rest)) {
    return mustHoldOf(op, "number of elements must stay the same",
                      llvm::Twine("x ") + toString(operands[0]) + " and shape " + toString(target));
  }
  return single(operands, shape);
}

llvm::Expected<Metas> transpose(const OpDef &op, Operands operands, Segments) {
  const IntList &pattern = op.ints("pattern");
  const TensorMeta &x = operands[0];
  Shape shape;
  if (pattern.empty())
    shape.assign(x.shape.rbegin(), x.shape.rend());
  else if (pattern.size() != x.rank())
    return mustHoldOf(op, "pattern must name every axis of x",
                      toString(llvm::ArrayRef<int64_t>(pattern)) + " and x " + toString(x));
  for (int64_t axis : pattern)
    shape.push_back(x.shape[fromFront(axis, x.rank())]);
  return single(operands, shape);
}

llvm::Expected<Metas> expandDims(const OpDef &op, Operands operands, Segments) {
  const IntList &axes = op.ints("axis");
  int64_t rank = operands[0].rank() + axes.size();
  if (rank > int64_t(kMaxRank))
    return mustHold(op, "rank of the result must be <= " + llvm::Twine(kMaxRank), operands);
  uint32_t isNew = 0;
  for (int64_t axis : axes)
    isNew |= 1u << fromFront(axis, rank);
  Shape shape;
  for (unsigned i = 0, from = 0; i < rank; ++i)
    shape.push_back(isNew >> i & 1 ? 1 : operands[0].shape[from++]);
  return single(operands, shape);
}

llvm::Expected<Metas> squeeze(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &x = operands[0];
  const IntList &axes = op.ints("axis");
  if (axes.empty() && !x.isStatic())
    return mustHold(op, "dimensions must be known when axis is empty", operands);
  uint32_t goes = 0;
  for (int64_t axis : axes)
    goes |= 1u << fromFront(axis, x.rank());
  Shape shape;
  for (unsigned i = 0; i < x.rank(); ++i) {
    bool named = goes >> i & 1;
    if (named && differs(x.shape[i], 1))
      return mustHold(op, "removed axes must have size 1", operands);
    if (!named && !(axes.empty() && x.shape[i] == 1))
      shape.push_back(x.shape[i]);
  }
  return single(operands, shape);
}

llvm::Expected<Metas> broadcastTo(const OpDef &op, Operands operands, Segments) {
  const IntList &target = op.ints("shape");
  const TensorMeta &x = operands[0];
  if (llvm::any_of(target, [](int64_t size) { return size < -1 && !sizes::isSymbolic(size); }))
    return mustHoldOf(op, "shape must have entries >= -1", toString(target));
  Shape shape(target.begin(), target.end());
  int64_t added = int64_t(shape.size()) - x.rank();
  for (int64_t i = std::max<int64_t>(added, 0); i < int64_t(shape.size()); ++i)
    if (shape[i] == -1)
      shape[i] = x.shape[i - added];
  // A new axis of the shape has no size of x to keep.
  if (shape.size() > kMaxRank || llvm::is_contained(shape, -1) || !broadcastsTo(x.shape, shape))
    return mustHoldOf(op, "x must broadcast to shape",
                      llvm::Twine("x ") + toString(x) + " and shape " + toString(target));
  return single(operands, shape);
}

llvm::Expected<Metas> slice(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &x = operands[0];
  const IntList &starts = op.ints("starts"), &stops = op.ints("stops"), &steps = op.ints("steps");
  if (starts.size() != x.rank() || stops.size() != x.rank() || (!steps.empty() && steps.size() != x.rank()))
    return mustHoldOf(op, "starts, stops and steps must have an entry for each axis",
                      llvm::Twine("x ") + toString(x) + ", starts " + toString(starts) + ", stops " + toString(stops) +
                          " and steps " + toString(steps));
  if (llvm::is_contained(steps, 0))
    return mustHoldOf(op, "steps must not be 0", toString(steps));
  Shape shape;
  for (unsigned i = 0; i < x.rank(); ++i) {
    shape.push_back(views::sliceLength(starts[i], stops[i], steps.empty() ? 1 : steps[i], x.shape[i]));
  }
  for (int64_t each : op.ints("in_bounds")) {
    int64_t axis = fromFront(each, x.rank());
    if (!views::startsInBounds(starts[axis], x.shape[axis]))
      return mustHoldOf(op, "starts must be indices of x for the axes in_bounds",
                        llvm::Twine("x ") + toString(x) + ", starts " + toString(starts) + " and in_bounds " +
                            toString(op.ints("in_bounds")));
    if (views::isOneIndex(starts[axis], stops[axis], steps.empty() ? 1 : steps[axis]))
      shape[axis] = 1;
  }
  return single(operands, shape);
}

} // namespace tess::shapes

namespace tess::checks {

using namespace shapes;

llvm::Error matchSize(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &x = operands[0];
  int64_t axis = fromFront(op.i64("axis"), x.rank()), size = op.i64("size");
  if (!differs(x.shape[axis], size))
    return llvm::Error::success();
  return invalidArgument(op.str("user") + ": sizes must match, got axis " + llvm::Twine(axis) + " of " + toString(x) +
                         " and " + llvm::Twine(size));
}

} // namespace tess::checks
