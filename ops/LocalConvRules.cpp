//===- LocalConvRules.cpp - windows of images, one by one -----------------===//
//
// Patches are the windows of an image, [N, C, KH, KW, OH, OW], taken by arrays
// of indices; what a convolution makes of them is a product of matrices.
//
//===----------------------------------------------------------------------===//
#include "ops/ForwardRules.h"
#include "ops/PixelPieces.h"
#include "ops/SizeExpr.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::forwards {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

namespace {

/// The windows of an operator. Height and width of images need not be known.
class Windows {
public:
  /// `kernel` is height and width of a window.
  Windows(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int64_t> kernel) : b(b), op(op), kernel(kernel) {
    if (llvm::any_of(kernel, [](int64_t size) { return size == kUnknown || sizes::isSymbolic(size); }))
      b.fail(invalidArgument(op.name() + ": height and width of windows must be known, got " + toString(kernel)));
  }

  /// The convolution by `weight` [O, I, KH, KW] of patches [N, C * KH * KW, OH, OW].
  int product(int patches, int weight) const {
    int64_t groups = op.i64("groups");
    const Shape shape = b.meta(weight).shape;
    int64_t summed = sizes::multiply(shape[1], kernel[0] * kernel[1]);
    int rows = splitAxis(b, op, flattened(b, weight, 1, 3), 0, groups, sizes::floorDivide(shape[0], groups));
    int columns = flattened(b, splitAxis(b, op, patches, 1, groups, summed), 3, 4);
    int out = flattened(b, call(b, "matmul", {rows, columns}), 1, 2); // [N, O, OH * OW]
    return reshapeLike(b, out, channelsOf(patches, shape[0]));
  }
  /// A value of which only the shape counts: that of `x` with `count` channels.
  int channelsOf(int x, int64_t count) const {
    if (x < 0)
      return -1;
    IntList shape(b.meta(x).rank(), -1);
    shape[1] = count;
    int one = call(b, "sum", {x}, {{"axes", IntList{1}}, {"keepdims", true}}); // there may be no channel
    return call(b, "broadcast_to", {one}, {{"shape", shape}});
  }

private:
  SubgraphBuilder &b;
  const OpDef &op;
  IntList kernel;
};

} // namespace

static llvm::ArrayRef<int64_t> plane(const Shape &shape) { return llvm::ArrayRef(shape).drop_front(2); }

/// Channels [N, D * size, ...] as [N * D, size, ...].
static int byGroup(SubgraphBuilder &b, const OpDef &op, int x, int64_t groups, int64_t size) {
  return flattened(b, splitAxis(b, op, x, 1, groups, size), 0, 1);
}

/// Places of the elements of windows along an axis (0 for height), moved by `offset` [N * D, KH * KW, 2, OH, OW]:
/// [N * D, KH * KW, OH * OW].
static int movedPlaces(SubgraphBuilder &b, const OpDef &op, int offset, llvm::ArrayRef<int64_t> kernel, unsigned axis) {
  DType dtype = b.meta(offset).dtype;
  int by = call(b, "squeeze", {sliceOf(b, offset, 2, axis, axis + 1)}, {{"axis", IntList{2}}}); // [.., KH * KW, OH, OW]
  int first = numbersAlong(b, by, 2 + axis, dtype),
      element = call(b, "arange", {}, {{"num", kernel[0] * kernel[1]}, {"dtype", DType::Int64}});
  int width = call(b, "scalar_tensor", {}, {{"value", kernel[1]}, {"dtype", DType::Int64}});
  element = castTo(b, call(b, axis == 0 ? "floor_div" : "mod", {element, width}), dtype);
  auto scaled = [&](int x, const char *attr) { return times(b, x, constant(b, double(op.ints(attr)[axis]), dtype)); };
  first = minus(b, scaled(first, "strides"), constant(b, double(op.ints("padding")[axis]), dtype));
  first = axis == 0 ? withAxes(b, first, {1}) : first;
  int place = plus(b, withAxes(b, scaled(element, "dilation"), {1, 2}), first);
  return flattened(b, plus(b, by, place), 2, 3);
}

/// Operands are x, weight, offset and mask; the mask has a channel for each element of a window and group.
Values deformableConv2d(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  const Shape x = b.meta(v[0]).shape, weight = b.meta(v[1]).shape, mask = b.meta(v[3]).shape;
  Windows windows(b, op, plane(weight));
  int64_t elements = sizes::multiply(weight[2], weight[3]), groups = sizes::floorDivide(mask[1], elements);
  int offset = splitAxis(b, op, byGroup(b, op, v[2], groups, sizes::multiply(elements, 2)), 1, elements, 2);
  int grouped = byGroup(b, op, v[0], groups, sizes::floorDivide(x[1], groups));
  if (offset < 0 || grouped < 0)
    return {-1};
  int row = movedPlaces(b, op, offset, plane(weight), 0), column = movedPlaces(b, op, offset, plane(weight), 1);
  int image = withAxes(b, numbersAlong(b, grouped, 0, DType::Int32), {1, 2});
  int taken = Sampler(b, grouped, "linear", "constant", 0.0).at(image, row, column); // channels last
  int factors = flattened(b, byGroup(b, op, v[3], groups, elements), 2, 3);
  int patches =
      permuted(b, times(b, taken, withAxes(b, factors, {3})), {0, 3, 1, 2}); // [N * D, C / D, KH * KW, OH * OW]
  int like = windows.channelsOf(v[3], sizes::multiply(x[1], elements));
  return {windows.product(reshapeLike(b, patches, like), v[1])};
}

/// Numbers of pixels from the beginning of boxes, whose ends are in columns `number` and `number + 2`: where they begin
/// and how long they are, each [K, 1, 1].
static std::pair<int, int> roundedBox(SubgraphBuilder &b, const OpDef &op, int rois, int64_t number) {
  int half = constantLike(b, 0.5, rois), scale = constantLike(b, op.attr("scale"), rois);
  auto end = [&](int64_t column, double added) {
    int x = call(b, "floor", {plus(b, sliceOf(b, rois, 1, column, column + 1), constantLike(b, 0.5 + added, rois))});
    return withAxes(b, minus(b, times(b, x, scale), half), {2});
  };
  int first = end(number, 0), length = minus(b, end(number + 2, 1), first);
  return {first, call(b, "maximum", {length, constantLike(b, 0.1, rois)})};
}

namespace {
/// Samples along an axis of the result: how many, and how many of them a bin has.
struct Samples {
  int64_t count, each;
};
} // namespace

/// For each sample the part of `parts` that its bin is in.
static int partsOf(SubgraphBuilder &b, Samples samples, int64_t parts) {
  auto number = [&](int64_t value) {
    return call(b, "scalar_tensor", {}, {{"value", value}, {"dtype", DType::Int64}});
  };
  int sample = call(b, "arange", {}, {{"num", samples.count}, {"dtype", DType::Int64}});
  int bin = call(b, "floor_div", {sample, number(samples.each)});
  return call(b, "floor_div", {times(b, bin, number(parts)), number(samples.count / samples.each)});
}

/// How far the samples of each box and class are moved, in boxes, [K, classes, 2, rows, columns].
static int partOffsets(SubgraphBuilder &b, const OpDef &op, int trans, Samples rows, Samples columns) {
  const Shape shape = b.meta(trans).shape;
  int byClass = splitAxis(b, op, trans, 1, sizes::floorDivide(shape[1], 2), 2);
  int row = withAxes(b, partsOf(b, rows, shape[2]), {1}), column = partsOf(b, columns, shape[3]);
  int moved = call(b, "index_get", {byClass, row, column}, {{"axes", IntList{3, 4}}});
  return times(b, moved, constantLike(b, op.attr("trans_std"), trans));
}

/// Operands are x, rois and trans. Samples outside of the image by more than half a pixel do not
/// count; the mean of none is 0.
Values deformablePsroiPooling(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  const IntList &bins = op.ints("output_shape");
  const Shape x = b.meta(v[0]).shape;
  int64_t each = op.i64("sample_per_part"), classes = 1;
  Samples rows{bins[0] * each, each}, columns{bins[1] * each, each};
  int moved = -1;
  if (!op.boolean("no_trans")) {
    classes = sizes::floorDivide(b.meta(v[2]).shape[1], 2);
    moved = partOffsets(b, op, v[2], rows, columns);
  }
  DType dtype = b.meta(v[0]).dtype;
  auto places = [&](Samples samples, int64_t number, int64_t offset, const IntList &others) {
    auto [first, length] = roundedBox(b, op, v[1], number);
    int sample = call(b, "arange", {}, {{"num", samples.count}, {"dtype", dtype}});
    int step = call(b, "div", {withAxes(b, sample, others), constant(b, double(samples.count), dtype)});
    if (moved >= 0) { // [K, classes, rows, columns]
      step = plus(b, step, call(b, "squeeze", {sliceOf(b, moved, 2, offset, offset + 1)}, {{"axis", IntList{2}}}));
      first = withAxes(b, first, {3}), length = withAxes(b, length, {3});
    }
    int place = plus(b, first, times(b, step, length));
    return moved < 0 ? place : flattened(b, place, 0, 1);
  };
  int row = places(rows, 2, 1, {1}), column = places(columns, 1, 0, {0});
  auto isInside = [&](int place, unsigned axis) {
    int low = constant(b, -0.5, dtype), high = plus(b, sizeOf(b, v[0], axis, dtype), low);
    return call(b, "logical_and", {call(b, "greater_equal", {place, low}), call(b, "less_equal", {place, high})});
  };
  int counts = castTo(b, call(b, "logical_and", {isInside(row, 2), isInside(column, 3)}), dtype);
  int image = castTo(b, sliceOf(b, v[1], 1, 0, 1), DType::Int32); // [K, 1], then one for each class
  int number = call(b, "arange", {}, {{"num", classes}, {"dtype", DType::Int32}});
  int stride = call(b, "scalar_tensor", {}, {{"value", classes}, {"dtype", DType::Int32}});
  image = plus(b, times(b, image, stride), number);
  image = withAxes(b, flattened(b, image, 0, 1), {1, 2});
  int grouped = byGroup(b, op, v[0], classes, sizes::floorDivide(x[1], classes));
  if (grouped < 0)
    return {-1};
  int values = Sampler(b, grouped, "linear", "replicate", 0.0).at(image, row, column);
  auto summed = [&](int value) { // [K * classes, rows, columns, channels], samples of a bin added
    value = splitAxis(b, op, splitAxis(b, op, value, 2, bins[1], each), 1, bins[0], each);
    return call(b, "sum", {value}, {{"axes", IntList{2, 4}}});
  };
  counts = withAxes(b, counts, {3});
  int count = call(b, "maximum", {summed(counts), constant(b, 1.0, dtype)});
  int mean = channelsFirst(b, call(b, "div", {summed(times(b, values, counts)), count}));
  // [K * classes, C / classes, OH, OW] in the shape [K, C, OH, OW], whose boxes need not be known.
  int box = withAxes(b, sliceOf(b, v[1], 1, 0, 1), {2, 3});
  return {reshapeLike(b, mean, call(b, "broadcast_to", {box}, {{"shape", IntList{-1, x[1], bins[0], bins[1]}}}))};
}

} // namespace tess::forwards
