//===- ViewShapes.cpp - shapes of views ----------------------------------===//
#include "ops/RuleErrors.h"
#include "ops/ShapeRules.h"
#include "ops/SizeExpr.h"
#include "ops/ViewRules.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::shapes {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

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
