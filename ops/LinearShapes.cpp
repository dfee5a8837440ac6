//===- LinearShapes.cpp - shapes of products of vectors ------------------===//
#include "ops/RuleErrors.h"
#include "ops/ShapeRules.h"

namespace tess::shapes {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

llvm::Expected<Metas> cross(const OpDef &op, Operands operands, Segments) {
  Shape rests[2];
  bool isSpace = false;
  for (unsigned i = 0; i < 2; ++i) {
    rests[i] = operands[i].shape;
    auto *vectors = rests[i].begin() + fromFront(op.i64(i ? "axisb" : "axisa"), operands[i].rank());
    if (*vectors == kUnknown || sizes::isSymbolic(*vectors))
      return mustHold(op, "size of the vectors must be known", operands, i);
    if (*vectors != 2 && *vectors != 3)
      return mustHold(op, "vectors must have 2 or 3 elements", operands, i);
    isSpace |= *vectors == 3;
    rests[i].erase(vectors);
  }
  if (!broadcastInto(rests[0], rests[1]))
    return mustHoldOfTwo(op, "other axes must broadcast", operands, 0, 1);
  int64_t rank = rests[0].size() + 1, axis = fromFront(op.i64("axisc"), rank);
  if (isSpace && (axis < 0 || axis >= rank))
    return mustHoldOf(op, "axisc must be in [" + llvm::Twine(-rank) + ", " + llvm::Twine(rank - 1) + "]",
                      llvm::Twine(op.i64("axisc")));
  if (isSpace)
    rests[0].insert(rests[0].begin() + axis, 3);
  return single(operands, rests[0]);
}

} // namespace tess::shapes
