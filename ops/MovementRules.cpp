//===- MovementRules.cpp - joins, cuts and repetitions as operators ------===//
#include "ops/ForwardRules.h"
#include "ops/GradientRules.h"
#include "ops/GraphPieces.h"
#include "ops/SizeExpr.h"

namespace tess {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

static unsigned axisOf(const OpDef &op, unsigned rank) {
  int64_t axis = op.i64("axis");
  return axis < 0 ? axis + rank : axis;
}

namespace forwards {

Values stack(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int64_t axis = axisOf(op, b.meta(v[0]).rank() + 1);
  Values parts;
  for (int value : v)
    parts.push_back(call(b, "expand_dims", {value}, {{"axis", IntList{axis}}}));
  return {call(b, "concat", parts, {{"axis", axis}})};
}

Values split(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  unsigned axis = axisOf(op, b.meta(v[0]).rank());
  Values parts;
  int64_t start = 0;
  for (int64_t size : op.ints("sections")) {
    int64_t stop = sizes::add(start, size);
    parts.push_back(sliceOf(b, v[0], axis, start, stop));
    start = stop;
  }
  return parts;
}

} // namespace forwards

namespace gradients {

Values concat(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, llvm::ArrayRef<bool> needed) {
  int dout = v[needed.size() + 1];
  unsigned axis = axisOf(op, b.meta(dout).rank());
  Values grads(needed.size(), -1);
  int64_t start = 0;
  for (unsigned i = 0; i < needed.size(); ++i) {
    int64_t size = b.meta(v[i]).shape[axis];
    if (size == kUnknown) {
      b.fail(invalidArgument(op.name() + ": size of the axis must be known for the gradient, got " +
                             toString(b.meta(v[i]))));
      return grads;
    }
    int64_t stop = sizes::add(start, size);
    if (needed[i])
      grads[i] = sliceOf(b, dout, axis, start, stop);
    start = stop;
  }
  return grads;
}

Values split(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, llvm::ArrayRef<bool>) {
  unsigned parts = (v.size() - 1) / 2;
  Values grads;
  for (unsigned i = 0; i < parts; ++i)
    grads.push_back(gradientOf(b, v, 1, i));
  return {call(b, "concat", grads, {{"axis", op.attr("axis")}})};
}

} // namespace gradients

} // namespace tess
