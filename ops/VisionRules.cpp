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

/// The images 0, 1, ... of a batch, as [N, 1, 1].
static int everyImage(SubgraphBuilder &b, int x) {
  return call(b, "expand_dims", {numbersAlong(b, x, 0, DType::Int32)}, {{"axis", IntList{1, 2}}});
}

static Sampler samplerOf(SubgraphBuilder &b, const OpDef &op, int x) {
  return Sampler(b, x, op.str("interp_mode"), op.str("border_mode"), op.attr("border_val"));
}

Values remap(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  auto place = [&](int64_t i) { return call(b, "squeeze", {sliceOf(b, v[1], 3, i, i + 1)}, {{"axis", IntList{3}}}); };
  return {channelsFirst(b, samplerOf(b, op, v[0]).at(everyImage(b, v[0]), place(1), place(0)))};
}

/// Rows or columns of the result as numbers: [OH, 1] for axis 0, [OW] for axis 1.
static int pixelNumbers(SubgraphBuilder &b, const OpDef &op, unsigned axis, DType dtype) {
  int numbers = call(b, "arange", {}, {{"num", op.ints("out_shape")[axis]}, {"dtype", dtype}});
  return axis == 1 ? numbers : call(b, "expand_dims", {numbers}, {{"axis", IntList{1}}});
}

/// `m[row] . (column, row, 1)` of every pixel of the result, [B, OH, OW].
static int transformed(SubgraphBuilder &b, const OpDef &op, int mat, int64_t row) {
  auto element = [&](int64_t column) { // [B, 1, 1]
    return sliceOf(b, sliceOf(b, mat, 1, row, row + 1), 2, column, column + 1);
  };
  DType dtype = b.meta(mat).dtype;
  int x = times(b, element(0), pixelNumbers(b, op, 1, dtype)), y = times(b, element(1), pixelNumbers(b, op, 0, dtype));
  return plus(b, plus(b, x, y), element(2));
}

Values warpAffine(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int x = transformed(b, op, v[1], 0), y = transformed(b, op, v[1], 1);
  return {channelsFirst(b, samplerOf(b, op, v[0]).at(everyImage(b, v[0]), y, x))};
}

Values warpPerspective(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int distance = transformed(b, op, v[1], 2);
  int x = call(b, "div", {transformed(b, op, v[1], 0), distance});
  int y = call(b, "div", {transformed(b, op, v[1], 1), distance});
  int image = call(b, "expand_dims", {castTo(b, v[2], DType::Int32)}, {{"axis", IntList{1, 2}}});
  return {channelsFirst(b, samplerOf(b, op, v[0]).at(image, y, x))};
}

/// x[::-1] along each of the axes.
Values flip(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int64_t rank = b.meta(v[0]).rank();
  IntList starts(rank, 0), stops(rank, INT64_MAX), steps(rank, 1);
  for (int64_t axis : op.ints("axes")) {
    axis += axis < 0 ? rank : 0;
    starts[axis] = -1;
    stops[axis] = INT64_MIN / 2; // before the first element; further below are expressions
    steps[axis] = -1;
  }
  return {call(b, "slice", {v[0]}, {{"starts", starts}, {"stops", stops}, {"steps", steps}})};
}

} // namespace forwards

} // namespace tess
