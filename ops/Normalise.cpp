//===- Normalise.cpp - attributes in their one form ----------------------===//
#include "ops/Normalise.h"
#include "ops/RuleErrors.h"
#include "ops/SizeExpr.h"
#include "ops/ViewRules.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::normalise {

/// The axis counted from the front. An axis that does not exist stays as it is, and inference refuses it.
static int64_t fromFront(int64_t axis, int64_t rank) { return axis < -rank ? axis : shapes::fromFront(axis, rank); }

llvm::Error axes(OpDef &op, llvm::ArrayRef<TensorMeta> operands) {
  for (auto [number, attr] : llvm::enumerate(op.info().attrs)) {
    bool isAxis = attr.axisOf >= 0 && size_t(attr.axisOf) < operands.size(); // inference refuses a missing operand
    if (!isAxis || (attr.kind != AttrKind::I64 && !attr.isSet))
      continue;
    int64_t rank = operands[attr.axisOf].rank() + attr.axisExtra;
    if (attr.kind == AttrKind::I64) {
      op.set(attr.name, fromFront(op.attr(number).i64(), rank));
      continue;
    }
    IntList list = op.attr(number).ints();
    for (int64_t &axis : list)
      axis = fromFront(axis, rank);
    llvm::sort(list);
    op.set(attr.name, std::move(list));
  }
  return llvm::Error::success();
}

llvm::Error slice(OpDef &op, llvm::ArrayRef<TensorMeta> operands) {
  const Shape &shape = operands[0].shape;
  IntList starts = op.ints("starts"), stops = op.ints("stops"), steps = op.ints("steps");
  if (steps.empty())
    steps.assign(shape.size(), 1);
  bool isWhole = starts.size() == shape.size() && stops.size() == shape.size() && steps.size() == shape.size();
  if (!isWhole || llvm::is_contained(steps, 0))
    return llvm::Error::success();
  if (!op.ints("in_bounds").empty())
    if (llvm::Expected<Metas> metas = op.infer(operands); !metas)
      return metas.takeError();
  auto isOpen = [&](int64_t axis) {
    return shape[axis] == kUnknown || sizes::isSymbolic({shape[axis], starts[axis], stops[axis], steps[axis]});
  };
  IntList open; // axes without a number for their size, whose bounds are checked later
  for (int64_t axis : op.ints("in_bounds"))
    if (axis = fromFront(axis, shape.size()); isOpen(axis))
      open.push_back(axis);
  for (unsigned i = 0; i < shape.size(); ++i) {
    if (isOpen(i))
      continue;
    views::SliceRange range = views::sliceRange(starts[i], stops[i], steps[i], shape[i]);
    starts[i] = range.count ? range.start : 0;
    stops[i] = range.count ? range.start + (range.count - 1) * steps[i] + (steps[i] > 0 ? 1 : -1) : 0;
    if (stops[i] < 0)
      stops[i] = -shape[i] - 1; // before the first element, which -1 would not say: it means the last one
    if (!range.count && steps[i] < 0)
      stops[i] = 0;
  }
  op.set("starts", std::move(starts)).set("stops", std::move(stops)).set("steps", std::move(steps));
  op.set("in_bounds", std::move(open));
  return llvm::Error::success();
}

} // namespace tess::normalise
