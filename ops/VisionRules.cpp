//===- VisionRules.cpp - pixels at computed positions, as operators -------===//
//
// A position is a real number of pixels, 0 at the centre of the first one. The
// pixels around it are taken by arrays of indices, and weighted.
//
//===----------------------------------------------------------------------===//
#include "ops/ForwardRules.h"
#include "ops/GraphPieces.h"
#include "ops/PixelPieces.h"

namespace tess {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

namespace forwards {

static int sizeNumber(SubgraphBuilder &b, int64_t size, DType dtype) {
  return call(b, "scalar_tensor", {}, {{"value", size}, {"dtype", dtype}});
}

/// Positions, in an axis of `from` elements, of the `size` ones of the result.
static int resizedPositions(SubgraphBuilder &b, const OpDef &op, int from, int64_t size, DType dtype) {
  int i = call(b, "arange", {}, {{"num", size}, {"dtype", dtype}});
  int to = sizeNumber(b, size, dtype), one = constant(b, 1.0, dtype);
  if (op.boolean("align_corners")) // one element alone is at 0
    return times(b, i, call(b, "div", {minus(b, from, one), call(b, "maximum", {minus(b, to, one), one})}));
  int half = constant(b, 0.5, dtype);
  return minus(b, times(b, plus(b, i, half), call(b, "div", {from, to})), half);
}

/// Indices of the nearest elements, in integers: no rounding takes another one.
static int nearestIndices(SubgraphBuilder &b, int x, unsigned axis, int64_t size) {
  int i = call(b, "arange", {}, {{"num", size}, {"dtype", DType::Int64}});
  int from = sizeOf(b, x, axis, DType::Int64), to = sizeNumber(b, size, DType::Int64);
  return call(b, "floor_div", {times(b, i, from), to});
}

/// `x` with `axis` resized to `size`.
static int resizedAxis(SubgraphBuilder &b, const OpDef &op, int x, unsigned axis, int64_t size) {
  const AttrValue along = IntList{axis};
  if (op.str("mode") == "nearest")
    return call(b, "index_get", {x, nearestIndices(b, x, axis, size)}, {{"axes", along}});
  DType dtype = b.meta(x).dtype;
  int from = sizeOf(b, x, axis, dtype), position = resizedPositions(b, op, from, size, dtype);
  if (op.str("mode") == "linear") { // the element at an end is there as it is
    int last = minus(b, from, constant(b, 1.0, dtype));
    position = call(b, "maximum", {call(b, "minimum", {position, last}), constant(b, 0.0, dtype)});
  }
  IntList behind; // axes that the weights need after their own
  for (unsigned i = axis + 1; i < b.meta(x).rank(); ++i)
    behind.push_back(i - axis);
  Taps taps = tapsAt(b, op.str("mode"), position);
  int sum = -1;
  for (unsigned i = 0; i < taps.weights.size(); ++i) {
    int index = borderIndex(b, "replicate", tapPlace(b, taps, i), from), weight = taps.weights[i];
    if (!behind.empty())
      weight = call(b, "expand_dims", {weight}, {{"axis", behind}});
    sum = accumulate(b, sum, times(b, call(b, "index_get", {x, index}, {{"axes", along}}), weight));
  }
  return sum;
}

Values resize(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  const IntList &size = op.ints("size");
  int x = v[0];
  for (unsigned i = 0; i < size.size(); ++i)
    x = resizedAxis(b, op, x, 2 + i, size[i]);
  return {x};
}

} // namespace forwards

} // namespace tess
