//===- ReductionShapes.cpp - conditions on reductions --------------------===//
#include "ops/inference/Checks.h"
#include "ops/inference/RuleErrors.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::checks {

using namespace shapes;
using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

/// A bit for each axis that is reduced.
static uint32_t reducedAxes(const OpDef &op, unsigned rank) {
  const AttrValue &value = op.attr(0u);
  if (value.kind() == AttrKind::I64)
    return 1u << fromFront(value.i64(), rank);
  uint32_t mask = 0;
  for (int64_t axis : value.ints())
    mask |= 1u << fromFront(axis, rank);
  return value.ints().empty() ? (1u << rank) - 1 : mask;
}

/// Whether max or min has the attribute that allows reducing no elements.
static bool allowsEmpty(const OpDef &op) {
  for (unsigned i = 0; i < op.numAttrs(); ++i)
    if (llvm::StringRef(op.info().attrs[i].name) == "allow_empty")
      return op.attr(i).boolean();
  return false;
}

llvm::Error reducible(const OpDef &op, Operands operands, Segments) {
  if (allowsEmpty(op))
    return llvm::Error::success();
  const TensorMeta &x = operands[0];
  uint32_t mask = reducedAxes(op, x.rank());
  if (givesIndex(op.info().reduceKind))
    if (llvm::Error e = fitsInt32(op, operands, mask))
      return e;
  bool reducesNothing = false, hasResults = true;
  for (unsigned i = 0; i < x.rank(); ++i) {
    bool isReduced = mask >> i & 1;
    reducesNothing |= isReduced && x.shape[i] == 0;
    hasResults &= isReduced || x.shape[i] != 0;
  }
  // An empty result has no element whose value would be undefined.
  if (reducesNothing && hasResults)
    return mustHold(op, "reduced dimensions must not be empty", operands);
  return llvm::Error::success();
}

} // namespace tess::checks
