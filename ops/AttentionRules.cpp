//===- AttentionRules.cpp - attention as operators -----------------------===//
#include "ops/ForwardRules.h"
#include "ops/GradientRules.h"
#include "ops/GraphPieces.h"

#include <cmath>

namespace tess {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

static const IntList kLast = {-1};

static int reduced(SubgraphBuilder &b, const char *name, int x) {
  return call(b, name, {x}, {{"axes", kLast}, {"keepdims", true}});
}

static int product(SubgraphBuilder &b, int x, int y, bool transposeX = false, bool transposeY = false) {
  return call(b, "matmul", {x, y}, {{"transpose_x", transposeX}, {"transpose_y", transposeY}});
}

/// The attribute `scale`, or 1 / sqrt(E), for each query.
static int scaleOf(SubgraphBuilder &b, const OpDef &op, int query) {
  if (op.has("scale"))
    return constantLike(b, op.attr("scale"), query);
  return call(b, "rsqrt", {countOf(b, query, {int64_t(b.meta(query).rank()) - 1}, b.meta(query).dtype)});
}

namespace forwards {

/// The scores, with -inf where a key does not take part.
static int masked(SubgraphBuilder &b, const OpDef &op, int scores, llvm::ArrayRef<int> masks) {
  int never = constantLike(b, -INFINITY, scores);
  for (int mask : masks)
    scores = isBool(b.meta(mask).dtype) ? call(b, "where", {mask, scores, never})
                                        : call(b, "add", {scores, castTo(b, mask, b.meta(scores).dtype)});
  if (!op.boolean("is_causal"))
    return scores;
  int seen = call(b, "tril", {castTo(b, fullLike(b, scores, 1), DType::Bool)});
  return call(b, "where", {seen, scores, never});
}

/// The softmax of the scores, and 0 where all scores are -inf.
static int weightsOfMasked(SubgraphBuilder &b, int scores) {
  int zero = constantLike(b, 0, scores), one = constantLike(b, 1, scores);
  int top = call(b, "max", {scores}, {{"axes", kLast}, {"keepdims", true}, {"allow_empty", true}});
  int shift = call(b, "where", {call(b, "isfinite", {top}), top, zero});
  int e = call(b, "exp", {call(b, "sub", {scores, shift})});
  int total = reduced(b, "sum", e);
  return call(b, "div", {e, call(b, "where", {call(b, "equal", {total, zero}), one, total})});
}

/// The weights with every leading axis of the result, because the values may have leading axes of their own.
static int withLeadingAxes(SubgraphBuilder &b, int weights, int out) {
  Shape shape = b.meta(out).shape;
  shape.back() = b.meta(weights).shape.back();
  if (b.meta(weights).shape == shape)
    return weights;
  if (!llvm::is_contained(shape, kUnknown))
    return call(b, "broadcast_to", {weights}, {{"shape", IntList(shape.begin(), shape.end())}});
  return call(b, "add", {weights, reduced(b, "sum", fullLike(b, out, 0))});
}

/// The queries are scaled rather than the scores: products of half floats then overflow no sooner than necessary, and a
/// query is copied for the product anyway.
Values attention(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  llvm::ArrayRef<int> masks = v.drop_front(3);
  int query = call(b, "mul", {v[0], scaleOf(b, op, v[0])});
  int scores = masked(b, op, product(b, query, v[1], false, true), masks);
  int weights = masks.empty() ? call(b, "softmax", {scores}, {{"axis", int64_t(-1)}}) : weightsOfMasked(b, scores);
  int out = product(b, weights, v[2]);
  return {out, withLeadingAxes(b, weights, out)};
}

/// Operands are query, key, value, weights, dout and, where the weights have a gradient, dweights.
Values attentionBackward(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int scale = scaleOf(b, op, v[0]), weights = v[3], dout = v[4];
  int dvalue = product(b, weights, dout, true);
  int dweights = accumulate(b, product(b, dout, v[2], false, true), v.size() > 5 ? v[5] : -1);
  int dot = reduced(b, "sum", call(b, "mul", {weights, dweights}));
  int dscores = call(b, "mul", {weights, call(b, "sub", {dweights, dot})});
  int dquery = call(b, "mul", {product(b, dscores, v[1]), scale});
  int dkey = product(b, dscores, call(b, "mul", {v[0], scale}), true);
  return {dquery, dkey, dvalue, dscores};
}

} // namespace forwards

namespace gradients {

Values attention(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, llvm::ArrayRef<bool> needed) {
  unsigned count = needed.size();
  Values operands = {v[0], v[1], v[2], v[count + 1], gradientOf(b, v, count, 0)};
  if (int dweights = v[count + 3]; dweights >= 0)
    operands.push_back(dweights);
  OpDef backward = OpDef::get("scaled_dot_product_attention_backward");
  if (op.has("scale"))
    backward.set("scale", op.attr("scale"));
  llvm::SmallVector<int, 2> grads = b.applyAll(std::move(backward), operands);
  if (grads.size() < 4)
    return Values(count, -1);
  Values result = {grads[0], grads[1], grads[2]};
  if (count > 3)
    result.push_back(isFloat(b.meta(v[3]).dtype) ? grads[3] : -1);
  return result;
}

} // namespace gradients

} // namespace tess
