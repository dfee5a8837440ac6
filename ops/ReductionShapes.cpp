//===- ReductionShapes.cpp - shapes of reductions ------------------------===//
#include "ops/RuleErrors.h"
#include "ops/ShapeRules.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::shapes {

/// Bit per axis that goes away.
static uint32_t reducedAxes(const OpDef &op, unsigned rank) {
  const AttrValue &value = op.attr(0u);
  if (value.kind() == AttrKind::I64)
    return 1u << fromFront(value.i64(), rank);
  uint32_t mask = 0;
  for (int64_t axis : value.ints())
    mask |= 1u << fromFront(axis, rank);
  return value.ints().empty() ? (1u << rank) - 1 : mask;
}

static Shape reducedShape(llvm::ArrayRef<int64_t> shape, uint32_t mask, bool keepdims) {
  Shape out;
  for (unsigned i = 0; i < shape.size(); ++i)
    if (!(mask >> i & 1))
      out.push_back(shape[i]);
    else if (keepdims)
      out.push_back(1);
  return out;
}

llvm::Expected<Metas> reduce(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>) {
  const TensorMeta &x = operands[0];
  return single(operands, reducedShape(x.shape, reducedAxes(op, x.rank()), op.boolean("keepdims")));
}

llvm::Expected<Metas> sum(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned> segments) {
  llvm::Expected<Metas> metas = reduce(op, operands, segments);
  if (metas && isBool(operands[0].dtype))
    (*metas)[0].dtype = DType::Int32;
  return metas;
}

llvm::Expected<Metas> reduceNonEmpty(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                     llvm::ArrayRef<unsigned> segments) {
  const TensorMeta &x = operands[0];
  uint32_t mask = reducedAxes(op, x.rank());
  bool isEmpty = false;
  for (unsigned i = 0; i < x.rank(); ++i)
    isEmpty |= (mask >> i & 1) && x.shape[i] == 0;
  // An empty result has no element that lacks an answer.
  if (isEmpty && !llvm::is_contained(reducedShape(x.shape, mask, false), 0))
    return mustHold(op, "reduced dimensions must not be empty", operands);
  return reduce(op, operands, segments);
}

llvm::Expected<Metas> sumTo(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>) {
  const TensorMeta &x = operands[0], &like = operands[1];
  bool fits = like.rank() <= x.rank();
  for (unsigned i = 0; fits && i < like.rank(); ++i) {
    int64_t from = x.shape[x.rank() - like.rank() + i], to = like.shape[i];
    fits = to == 1 || to == from || to == kUnknown || from == kUnknown;
  }
  if (!fits)
    return mustHoldOfTwo(op, "like must broadcast to x", operands, 0, 1);
  return single(operands, like.shape);
}

} // namespace tess::shapes
