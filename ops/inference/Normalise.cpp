//===- Normalise.cpp - attributes in their one form ----------------------===//
#include "ops/inference/Normalise.h"
#include "ops/inference/RuleErrors.h"
#include "ops/inference/ViewRules.h"
#include "ops/vocabulary/SizeExpr.h"

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

} // namespace tess::normalise
