//===- SoftmaxRules.cpp - exponentials and losses as operators -----------===//
#include "ops/ForwardRules.h"
#include "ops/GraphPieces.h"

namespace tess::forwards {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

static int reduced(SubgraphBuilder &b, const char *name, int x, const AttrValue &axes) {
  return call(b, name, {x}, {{"axes", axes}, {"keepdims", true}});
}

/// x minus its largest element along `axis`, so that no exponential overflows. The result of an empty axis is empty.
static int shifted(SubgraphBuilder &b, int x, const AttrValue &axis) {
  int top = call(b, "max", {x}, {{"axes", axis}, {"keepdims", true}, {"allow_empty", true}});
  return call(b, "sub", {x, top});
}

Values softmax(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int e = call(b, "exp", {shifted(b, v[0], op.attr("axis"))});
  return {call(b, "div", {e, reduced(b, "sum", e, op.attr("axis"))})};
}

Values logSoftmax(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int x = shifted(b, v[0], op.attr("axis"));
  int total = reduced(b, "sum", call(b, "exp", {x}), op.attr("axis"));
  return {call(b, "sub", {x, call(b, "log", {total})})};
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

Values oneHot(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  DType dtype = b.meta(v[0]).dtype;
  int index = call(b, "expand_dims", {v[0]}, {{"axis", IntList{-1}}});
  int classes = call(b, "arange", {}, {{"num", op.attr("num_classes")}, {"dtype", dtype}});
  return {castTo(b, call(b, "equal", {index, classes}), dtype)};
}

static int reduce(SubgraphBuilder &b, const OpDef &op, int loss) {
  if (op.str("reduction") == "none")
    return loss;
  return call(b, op.str("reduction") == "mean" ? "mean" : "sum", {loss});
}

/// `x` with `axis` moved to the end.
static int withLastAxis(SubgraphBuilder &b, int x, int64_t axis) {
  int64_t rank = b.meta(x).rank();
  axis += axis < 0 ? rank : 0;
  if (axis == rank - 1)
    return x;
  IntList pattern;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      pattern.push_back(i);
  pattern.push_back(axis);
  return call(b, "transpose", {x}, {{"pattern", pattern}});
}

/// The label's score is found by comparing indices rather than by an address, so that the whole loss is one kernel.
Values crossEntropy(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int pred = withLastAxis(b, v[0], op.i64("axis"));
  IntList last = {-1};
  int total = -1;
  if (op.boolean("with_logits"))
    total = call(b, "logsumexp", {pred}, {{"axes", last}});
  else
    pred = call(b, "log", {pred});
  int label = call(b, "expand_dims", {v[1]}, {{"axis", last}});
  int isLabel = call(b, "one_hot_like", {label, pred});
  int score = call(b, "sum", {call(b, "where", {isLabel, pred, constantLike(b, 0, pred)})}, {{"axes", last}});
  if (double smooth = op.f64("label_smooth"); smooth != 0) {
    int even = call(b, "mul", {call(b, "mean", {pred}, {{"axes", last}}), constantLike(b, smooth, pred)});
    score = call(b, "add", {even, call(b, "mul", {score, constantLike(b, 1 - smooth, pred)})});
  }
  return {reduce(b, op, total < 0 ? call(b, "neg", {score}) : call(b, "sub", {total, score}))};
}

Values squareLoss(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return {reduce(b, op, call(b, "square", {call(b, "sub", {v[0], v[1]})}))};
}

Values l1Loss(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return {reduce(b, op, call(b, "abs", {call(b, "sub", {v[0], v[1]})}))};
}

} // namespace tess::forwards
