//===- FftRules.cpp - gradients of Fourier transforms ---------------------===//
//
// A transform is a product with a matrix F, and the gradient of a real loss by a
// complex number is that of Complex.td: it goes back through the conjugated and
// transposed matrix, which is the opposite transform with the same factor.
//
//===----------------------------------------------------------------------===//
#include "ops/graphs/GradientRules.h"
#include "ops/graphs/GraphPieces.h"
#include "ops/inference/FftShapes.h"
#include "ops/vocabulary/SizeExpr.h"

namespace tess {

using fft::axisOf;
using fft::halfOf;

namespace gradients {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;
using Bools = llvm::ArrayRef<bool>;

/// The norm with which the opposite transform has the same factor.
static AttrValue oppositeNorm(const OpDef &op) {
  llvm::StringRef norm = op.str("norm");
  return AttrValue(norm == "backward" ? "forward" : norm == "forward" ? "backward" : "ortho");
}

static int opposite(SubgraphBuilder &b, const OpDef &op, int dout, bool isInverse) {
  return call(b, "fft_c2c", {dout}, {{"axis", op.attr("axis")}, {"norm", oppositeNorm(op)}, {"inverse", !isInverse}});
}

Values fftC2c(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools) {
  return {opposite(b, op, v[2], op.boolean("inverse"))};
}

/// The elements that the result lacks count as 0.
Values fftR2c(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools) {
  int64_t axis = axisOf(op, b.meta(v[0])), size = b.meta(v[0]).shape[axis];
  IntList none(b.meta(v[0]).rank(), 0), added = none;
  added[axis] = sizes::subtract(size, halfOf(size));
  int whole = call(b, "pad", {v[2]}, {{"low", none}, {"high", added}});
  return {call(b, "real", {opposite(b, op, whole, /*isInverse=*/false)})};
}

/// How often each element counts: twice where it stands for its conjugate, too, which is so of all but the first one
/// and that in the middle of an even length. It broadcasts along `axis` of a tensor of that rank.
static int timesOfHalf(SubgraphBuilder &b, int64_t length, int64_t axis, int64_t rank, DType dtype) {
  auto number = [&](int64_t value) {
    return call(b, "scalar_tensor", {}, {{"value", value}, {"dtype", DType::Int64}});
  };
  int index = call(b, "arange", {}, {{"num", halfOf(length)}, {"dtype", DType::Int64}});
  int isFirst = call(b, "equal", {index, number(0)});
  int isMiddle = call(b, "equal", {call(b, "add", {index, index}), number(length)}); // never of an odd length
  int isOnce = call(b, "logical_or", {isFirst, isMiddle});
  int times = call(b, "where", {isOnce, constant(b, 1, dtype), constant(b, 2, dtype)});
  IntList others;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      others.push_back(i);
  return others.empty() ? times : call(b, "expand_dims", {times}, {{"axis", others}});
}

Values fftC2r(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools) {
  const TensorMeta &x = b.meta(v[0]);
  int64_t axis = axisOf(op, x);
  int half = call(b, "fft_r2c", {v[2]}, {{"axis", op.attr("axis")}, {"norm", oppositeNorm(op)}});
  return {call(b, "mul", {half, timesOfHalf(b, op.i64("length"), axis, x.rank(), b.meta(half).dtype)})};
}

} // namespace gradients

} // namespace tess
