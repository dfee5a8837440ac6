//===- SoftmaxRules.cpp - exponentials and class indices as operators ----===//
#include "ops/ForwardRules.h"
#include "ops/GraphPieces.h"

namespace tess::forwards {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

static int reduced(SubgraphBuilder &b, const char *name, int x, const AttrValue &axes) {
  return call(b, name, {x}, {{"axes", axes}, {"keepdims", true}});
}

Values logSumExp(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  const AttrValue &axes = op.attr("axes");
  int top = reduced(b, "max", v[0], axes);
  // The shift is 0 where all elements are -inf or one is inf, because inf - inf is NaN.
  int shift = call(b, "where", {call(b, "isfinite", {top}), top, constantLike(b, 0, top)});
  int total = reduced(b, "sum", call(b, "exp", {call(b, "sub", {v[0], shift})}), axes);
  int out = call(b, "add", {call(b, "log", {total}), shift});
  if (op.boolean("keepdims") || b.meta(v[0]).rank() == 0)
    return {out};
  IntList list = axes.ints();
  if (list.empty())
    for (unsigned i = 0; i < b.meta(v[0]).rank(); ++i)
      list.push_back(i);
  return {call(b, "squeeze", {out}, {{"axis", list}})};
}

} // namespace tess::forwards
