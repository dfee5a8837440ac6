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

static int distance(SubgraphBuilder &b, llvm::ArrayRef<int> v) {
  return call(b, "abs", {call(b, "sub", {v[0], v[1]})});
}

Values squareLoss(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return {reduce(b, op, call(b, "square", {call(b, "sub", {v[0], v[1]})}))};
}

Values l1Loss(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) { return {reduce(b, op, distance(b, v))}; }

/// d - c / 2 for c = min(d, limit): times c it is the parabola up to the limit and the line beyond. As no branch is
/// left out, the gradient of an infinite d is that of the line.
static int lineOf(SubgraphBuilder &b, int d, int c) {
  return call(b, "sub", {d, call(b, "mul", {c, constantLike(b, 0.5, d)})});
}

Values huberLoss(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int d = distance(b, v), c = call(b, "minimum", {d, constantLike(b, op.attr("delta"), d)});
  return {reduce(b, op, call(b, "mul", {c, lineOf(b, d, c)}))};
}

Values smoothL1Loss(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int d = distance(b, v), beta = constantLike(b, op.attr("beta"), d), one = constantLike(b, 1, d);
  int c = call(b, "minimum", {d, beta}), isL1 = call(b, "equal", {beta, constantLike(b, 0, d)});
  int ratio = call(b, "div", {c, call(b, "where", {isL1, one, beta})});
  return {reduce(b, op, call(b, "mul", {call(b, "where", {isL1, one, ratio}), lineOf(b, d, c)}))};
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

Values binaryCrossEntropy(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int pred = v[0], label = v[1], one = constantLike(b, 1, pred);
  if (op.boolean("with_logits"))
    return {reduce(b, op, call(b, "sub", {call(b, "softplus", {pred}), call(b, "mul", {pred, label})}))};
  int hit = call(b, "mul", {label, call(b, "log", {pred})});
  int miss = call(b, "mul", {call(b, "sub", {one, label}), call(b, "log", {call(b, "sub", {one, pred})})});
  return {reduce(b, op, call(b, "neg", {call(b, "add", {hit, miss})}))};
}

Values hingeLoss(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int margin = call(b, "sub", {constantLike(b, 1, v[0]), call(b, "mul", {v[0], v[1]})});
  int loss = call(b, "relu", {margin});
  if (op.str("norm") == "L2")
    loss = call(b, "square", {loss});
  return {reduce(b, op, call(b, "sum", {loss}, {{"axes", IntList{1}}}))};
}

/// The lengths are limited before the root is taken, so that a vector of zeros has a gradient.
Values cosineSimilarity(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  IntList axes = {op.i64("axis")};
  int product = call(b, "mul", {v[0], v[1]}), epsilon = constantLike(b, op.attr("epsilon"), product);
  auto length = [&](int x) {
    int square = call(b, "sum", {call(b, "square", {broadcastLike(b, x, product)})}, {{"axes", axes}});
    return call(b, "sqrt", {call(b, "maximum", {square, call(b, "square", {epsilon})})});
  };
  int lengths = call(b, "mul", {length(v[0]), length(v[1])});
  return {call(b, "div", {call(b, "sum", {product}, {{"axes", axes}}), lengths})};
}

Values tripletMarginLoss(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int margin = constantLike(b, op.attr("margin"), v[0]), epsilon = constantLike(b, op.attr("epsilon"), v[0]);
  auto between = [&](int x, int y) {
    int difference = call(b, "add", {call(b, "sub", {x, y}), epsilon});
    return call(b, "norm", {difference}, {{"axes", kLast}, {"ord", op.attr("p")}});
  };
  int near = between(v[0], v[1]), far = between(v[0], v[2]);
  if (op.boolean("swap"))
    far = call(b, "minimum", {far, between(v[1], v[2])});
  int loss = call(b, "add", {call(b, "sub", {near, far}), margin});
  return {reduce(b, op, call(b, "maximum", {loss, constantLike(b, 0, loss)}))};
}

} // namespace tess::forwards
