//===- MovementShapes.cpp - shapes of joins, cuts and borders ------------===//
#include "ops/Checks.h"
#include "ops/RuleErrors.h"
#include "ops/ShapeRules.h"
#include "ops/SizeExpr.h"
#include "ops/ViewRules.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::shapes {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

static std::string listed(Operands operands) {
  std::string text;
  for (unsigned i = 0; i < operands.size(); ++i)
    text += (i ? ", " : "") + toString(operands[i]);
  return text;
}

/// Sets `dim` to `other` if it is unknown; false when both are known and differ.
static bool unify(int64_t &dim, int64_t other) {
  if (dim == kUnknown)
    dim = other;
  else if (other != kUnknown && sizes::isSymbolic({dim, other}))
    dim = other = sizes::agreed(dim, other);
  return other == kUnknown || dim == other;
}

llvm::Expected<Metas> concat(const OpDef &op, Operands operands, Segments) {
  if (operands.empty())
    return mustHoldOf(op, "inputs must not be empty", "none");
  unsigned rank = operands[0].rank();
  if (rank == 0 || llvm::any_of(operands, [&](const TensorMeta &m) { return m.rank() != rank; }))
    return mustHoldOf(op, "inputs must have the same rank, at least 1", listed(operands));
  unsigned axis = fromFront(op.i64("axis"), rank);
  Shape shape = operands[0].shape;
  for (const TensorMeta &meta : operands.drop_front())
    for (unsigned i = 0; i < rank; ++i) {
      if (i != axis && !unify(shape[i], meta.shape[i]))
        return mustHoldOf(op, "dimensions besides axis " + llvm::Twine(axis) + " must match", listed(operands));
      if (i == axis)
        shape[i] = sizes::add(shape[i], meta.shape[i]);
    }
  return single(operands, shape);
}

llvm::Expected<Metas> stack(const OpDef &op, Operands operands, Segments) {
  if (operands.empty())
    return mustHoldOf(op, "inputs must not be empty", "none");
  Shape shape = operands[0].shape;
  for (const TensorMeta &meta : operands) {
    bool fits = meta.rank() == shape.size();
    for (unsigned i = 0; fits && i < shape.size(); ++i)
      fits = unify(shape[i], meta.shape[i]);
    if (!fits)
      return mustHoldOf(op, "inputs must have the same shape", listed(operands));
  }
  shape.insert(shape.begin() + fromFront(op.i64("axis"), shape.size() + 1), operands.size());
  return single(operands, shape);
}

llvm::Expected<Metas> split(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &x = operands[0];
  const IntList &sections = op.ints("sections");
  unsigned axis = fromFront(op.i64("axis"), x.rank());
  if (sections.empty())
    return mustHoldOf(op, "sections must not be empty", toString(sections));
  int64_t total = 0;
  for (int64_t size : sections)
    if (total = sizes::add(total, size); total == kUnknown)
      return mustHoldOf(op, "sections must add up to a size", toString(sections));
  if (differs(x.shape[axis], total))
    return mustHoldOf(op, "sections must add up to the size of axis " + llvm::Twine(axis),
                      "sections " + toString(sections) + " and x " + toString(x));
  Metas metas;
  for (int64_t size : sections) {
    metas.emplace_back(x.dtype, x.shape);
    metas.back().shape[axis] = size;
  }
  return metas;
}

} // namespace tess::shapes

namespace tess::checks {

using namespace shapes;

llvm::Error sliceSet(const OpDef &op, Operands operands, Segments segments) {
  llvm::Expected<Metas> part = slice(op, operands.take_front(1), segments);
  if (!part)
    return part.takeError();
  if (!broadcastsTo(operands[1].shape, (*part)[0].shape))
    return mustHoldOf(op, "value must broadcast to the slice",
                      "value " + toString(operands[1]) + " and slice " + toString((*part)[0].shape));
  return llvm::Error::success();
}

} // namespace tess::checks
