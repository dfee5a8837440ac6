//===- GradientRules.cpp - gradients of reductions, products, views ------===//
#include "ops/graphs/GradientRules.h"
#include "ops/graphs/GraphPieces.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::gradients {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;
using Bools = llvm::ArrayRef<bool>;

/// The sorted axes that a reduction of an operand of rank `rank` reduces.
static IntList reducedAxes(const OpDef &op, int64_t rank) {
  IntList axes;
  for (int64_t i = 0; i < rank; ++i)
    for (int64_t axis : op.ints("axes"))
      if (axis == i || axis + rank == i)
        axes.push_back(i);
  if (axes.empty())
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  return axes;
}

/// The value with the reduced axes put back as size 1, where the result lacks them.
static int withAxes(SubgraphBuilder &b, const OpDef &op, int value, int x) {
  if (op.boolean("keepdims") || b.meta(x).rank() == 0)
    return value;
  return call(b, "expand_dims", {value}, {{"axis", reducedAxes(op, b.meta(x).rank())}});
}

static Values ofSum(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return {broadcastLike(b, withAxes(b, op, v[2], v[0]), v[0])};
}

/// The number of elements has no place in a narrow float, which ends at 65 504 or has 8 digits of it.
static Values ofMean(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  DType dtype = b.meta(v[0]).dtype, wide = isNarrowFloat(dtype) ? DType::Float32 : dtype;
  int grad = castTo(b, withAxes(b, op, v[2], v[0]), wide);
  int count = countOf(b, v[0], reducedAxes(op, b.meta(v[0]).rank()), wide);
  return {broadcastLike(b, castTo(b, call(b, "div", {grad, count}), dtype), v[0])};
}

/// Each element's gradient is the product of the others, those before it along an axis times those after it. No
/// division, so a zero is like any number, in further gradients too. Over several axes: a product of products, axis by
/// axis.
static Values ofProd(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int product = v[0], grad = withAxes(b, op, v[2], v[0]);
  llvm::SmallVector<int, 4> others;
  for (int64_t axis : reducedAxes(op, b.meta(v[0]).rank())) {
    auto upTo = [&](bool reverse) {
      return call(b, "cumprod", {product}, {{"axis", axis}, {"exclusive", true}, {"reverse", reverse}});
    };
    others.push_back(call(b, "mul", {upTo(false), upTo(true)}));
    product = call(b, "prod", {product}, {{"axes", IntList{axis}}, {"keepdims", true}});
  }
  for (int each : llvm::reverse(others))
    grad = call(b, "mul", {grad, each});
  return {grad};
}

/// Equal elements share the gradient evenly.
static Values ofExtremum(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int isBest =
      call(b, "cast", {call(b, "equal", {v[0], withAxes(b, op, v[1], v[0])})}, {{"dtype", b.meta(v[0]).dtype}});
  int count = call(b, "sum", {isBest}, {{"axes", op.attr("axes")}, {"keepdims", true}});
  int grad = withAxes(b, op, v[2], v[0]);
  return {call(b, "mul", {isBest, call(b, "div", {grad, count})})};
}

Values reduced(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools) {
  switch (op.info().reduceKind) {
  case ReduceKind::Sum:
    return ofSum(b, op, v);
  case ReduceKind::Mean:
    return ofMean(b, op, v);
  case ReduceKind::Prod:
    return ofProd(b, op, v);
  case ReduceKind::Max:
  case ReduceKind::Min:
    return ofExtremum(b, op, v);
  case ReduceKind::ArgMax:
  case ReduceKind::ArgMin:
    break; // indices have no gradient
  }
  return {-1};
}

/// A batch of matrices as one, whose rows are theirs.
static int rowsOf(SubgraphBuilder &b, int x) {
  return call(b, "flatten", {x}, {{"start_axis", int64_t(0)}, {"end_axis", int64_t(b.meta(x).rank()) - 2}});
}

/// The gradient of a matrix y by which all matrices of a batch are multiplied is one product over all of their rows.
Values matmul(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools needed) {
  bool tx = op.boolean("transpose_x"), ty = op.boolean("transpose_y");
  int x = conj(b, v[0]), y = conj(b, v[1]), dout = v[3];
  Values grads(2, -1);
  auto product = [&](int lhs, int rhs, bool tl, bool tr) {
    return call(b, "matmul", {lhs, rhs}, {{"transpose_x", tl}, {"transpose_y", tr}, {"dtype", op.attr("dtype")}});
  };
  if (needed[0])
    grads[0] = tx ? product(y, dout, ty, true) : product(dout, y, false, !ty);
  if (needed[1] && !tx && b.meta(y).rank() == 2 && b.meta(x).rank() > 2) {
    x = rowsOf(b, x);
    dout = rowsOf(b, dout);
  }
  if (needed[1])
    grads[1] = ty ? product(dout, x, true, tx) : product(x, dout, !tx, false);
  return grads;
}

} // namespace tess::gradients
