//===- LossRules.cpp - losses as operators -------------------------------===//
#include "ops/ForwardRules.h"
#include "ops/GraphPieces.h"

namespace tess::forwards {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

static const IntList kLast = {-1};

static int reduce(SubgraphBuilder &b, const OpDef &op, int loss) {
  if (op.str("reduction") == "none")
    return loss;
  return call(b, op.str("reduction") == "mean" ? "mean" : "sum", {loss});
}

/// `x` with `axis` moved to the end.
static int withLastAxis(SubgraphBuilder &b, int x, int64_t axis) {
  int64_t rank = b.meta(x).rank();
  return movedAxis(b, x, axis < 0 ? axis + rank : axis, rank - 1);
}

/// The element of `x` at the label along its last axis, 0 where there is none: found by comparing indices rather than
/// by an address, so that the whole loss is one kernel.
static int atLabel(SubgraphBuilder &b, int x, int label, int pred) {
  int isLabel = call(b, "one_hot_like", {call(b, "expand_dims", {label}, {{"axis", kLast}}), pred});
  return call(b, "sum", {call(b, "where", {isLabel, x, constantLike(b, 0, x)})}, {{"axes", kLast}});
}

Values crossEntropy(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int pred = withLastAxis(b, v[0], op.i64("axis"));
  int total = -1;
  if (op.boolean("with_logits"))
    total = call(b, "logsumexp", {pred}, {{"axes", kLast}});
  else
    pred = call(b, "log", {pred});
  int score = atLabel(b, pred, v[1], pred);
  if (double smooth = op.f64("label_smooth"); smooth != 0) {
    int even = call(b, "mul", {call(b, "mean", {pred}, {{"axes", kLast}}), constantLike(b, smooth, pred)});
    score = call(b, "add", {even, call(b, "mul", {score, constantLike(b, 1 - smooth, pred)})});
  }
  return {reduce(b, op, total < 0 ? call(b, "neg", {score}) : call(b, "sub", {total, score}))};
}

/// The mean is that of PyTorch: divided by the weights of the labels that count.
Values nllLoss(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int pred = withLastAxis(b, v[0], op.i64("axis")), label = v[1], zero = constantLike(b, 0, pred);
  int ignored = call(b, "scalar_tensor", {}, {{"value", op.attr("ignore_index")}, {"dtype", b.meta(label).dtype}});
  int counts = call(b, "not_equal", {label, ignored});
  int score = atLabel(b, pred, label, pred);
  int weight = v.size() > 2 ? atLabel(b, v[2], label, pred) : constantLike(b, 1, pred);
  int loss = call(b, "where", {counts, call(b, "neg", {call(b, "mul", {weight, score})}), zero});
  if (op.str("reduction") != "mean")
    return {reduce(b, op, loss)};
  int total = call(b, "sum", {call(b, "where", {counts, weight, zero})});
  return {call(b, "div", {call(b, "sum", {loss}), total})};
}

/// The terms of a divergence; the logarithm is not taken of a label of 0, whose gradient would be infinite.
static int divergence(SubgraphBuilder &b, bool isLogarithm, int pred, int label) {
  if (isLogarithm)
    return call(b, "mul", {call(b, "exp", {label}), call(b, "sub", {label, pred})});
  int isZero = call(b, "equal", {label, constantLike(b, 0, label)});
  int log = call(b, "log", {call(b, "where", {isZero, constantLike(b, 1, label), label})});
  return call(b, "mul", {label, call(b, "sub", {log, pred})});
}

Values klDiv(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int loss = divergence(b, op.boolean("log_target"), v[0], v[1]);
  if (op.str("reduction") != "batchmean")
    return {reduce(b, op, loss)};
  if (b.meta(loss).rank() > 0)
    loss = call(b, "mean", {loss}, {{"axes", IntList{0}}});
  return {call(b, "sum", {loss})};
}

} // namespace tess::forwards
