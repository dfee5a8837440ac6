//===- RoiRules.cpp - boxes and patches of images, as operators -----------===//
#include "ops/ForwardRules.h"
#include "ops/PixelPieces.h"
#include "ops/SizeExpr.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cmath>

namespace tess::forwards {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

/// Column `number` of the boxes, as [K, 1].
static int boxColumn(SubgraphBuilder &b, int rois, int64_t number) { return sliceOf(b, rois, 1, number, number + 1); }

/// The images that the boxes are in, as [K].
static int imagesOf(SubgraphBuilder &b, int rois) {
  return castTo(b, call(b, "squeeze", {boxColumn(b, rois, 0)}, {{"axis", IntList{1}}}), DType::Int32);
}

/// Of boxes along an axis: the scaled end in column `number`, [K, 1].
static int scaledEnd(SubgraphBuilder &b, const OpDef &op, int rois, int64_t number) {
  return times(b, boxColumn(b, rois, number), constantLike(b, op.attr("scale"), rois));
}

/// Sample positions along an axis, whose boxes begin in column `number`: [K, bins * samples].
static int samplePositions(SubgraphBuilder &b, const OpDef &op, int rois, int64_t number, unsigned axis) {
  int64_t bins = op.ints("output_shape")[axis], samples = op.ints("sample_points")[axis];
  int first = scaledEnd(b, op, rois, number), zero = constantLike(b, 0, rois);
  int length = call(b, "maximum", {minus(b, scaledEnd(b, op, rois, number + 2), first), zero});
  int step = call(b, "div", {length, constantLike(b, double(bins) * double(samples), rois)});
  int places =
      call(b, "arange", {}, {{"num", sizes::multiply(bins, samples)}, {"start", 0.5}, {"dtype", b.meta(rois).dtype}});
  int half = constantLike(b, op.boolean("aligned") ? 0.5 : 0.0, rois);
  return plus(b, minus(b, first, half), times(b, places, step));
}

Values roiAlign(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  const IntList &bins = op.ints("output_shape"), &samples = op.ints("sample_points");
  int y = withAxes(b, samplePositions(b, op, v[1], 2, 0), {2}),
      x = withAxes(b, samplePositions(b, op, v[1], 1, 1), {1});
  int values = Sampler(b, v[0], "linear", "constant", 0.0).at(withAxes(b, imagesOf(b, v[1]), {1, 2}), y, x);
  values = splitAxis(b, op, values, 2, bins[1], samples[1]); // [K, rows, OW, samples, C]
  values = splitAxis(b, op, values, 1, bins[0], samples[0]); // [K, OH, samples, OW, samples, C]
  const char *reduction = op.str("mode") == "max" ? "max" : "mean";
  return {channelsFirst(b, call(b, reduction, {values}, {{"axes", IntList{2, 4}}}))};
}

namespace {
/// The pixels of each bin along an axis, from `first` on and below `end`: [K, bins].
struct Bins {
  int first, end;
};
} // namespace

static int rounded(SubgraphBuilder &b, int x) { return call(b, "floor", {plus(b, x, constantLike(b, 0.5, x))}); }

/// The bins along height (0) or width of images x, whose boxes begin in column `number`. The quotients are of whole
/// numbers.
static Bins binsAlong(SubgraphBuilder &b, const OpDef &op, int rois, int64_t number, unsigned axis, int x) {
  DType dtype = b.meta(rois).dtype;
  int64_t count = op.ints("output_shape")[axis];
  int one = constantLike(b, 1, rois), zero = constantLike(b, 0, rois), bins = constantLike(b, double(count), rois);
  int first = rounded(b, scaledEnd(b, op, rois, number)), last = rounded(b, scaledEnd(b, op, rois, number + 2));
  int length = call(b, "maximum", {plus(b, minus(b, last, first), one), one});
  int bin = call(b, "arange", {}, {{"num", count}, {"dtype", dtype}}), image = sizeOf(b, x, 2 + axis, dtype);
  auto inImage = [&](int place) {
    return call(b, "minimum", {call(b, "maximum", {plus(b, first, place), zero}), image});
  };
  int below = call(b, "floor", {call(b, "div", {times(b, bin, length), bins})});
  int above = call(b, "ceil", {call(b, "div", {times(b, plus(b, bin, one), length), bins})});
  return {inImage(below), inImage(above)};
}

/// Which pixels along an axis of x are in each bin: [K, 1, bins, 1, size].
static int pixelsInBins(SubgraphBuilder &b, const Bins &bins, int x, unsigned axis) {
  int pixel = numbersAlong(b, x, axis, b.meta(bins.first).dtype);
  int isBehind = call(b, "greater_equal", {pixel, withAxes(b, bins.first, {1, 3, 4})});
  return call(b, "logical_and", {isBehind, call(b, "less", {pixel, withAxes(b, bins.end, {1, 3, 4})})});
}

/// Columns first, then rows: what is not in a bin counts as nothing.
Values roiPooling(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  bool isMax = op.str("mode") == "max";
  Bins rows = binsAlong(b, op, v[1], 2, 0, v[0]), columns = binsAlong(b, op, v[1], 1, 1, v[0]);
  int image = call(b, "index_get", {v[0], imagesOf(b, v[1])}, {{"axes", IntList{0}}}); // [K, C, H, W]
  int nothing = constantLike(b, isMax ? -INFINITY : 0.0, image);
  auto pooled = [&](int x, const Bins &bins, unsigned axis) { // [K, C, A, size] as [K, C, bins, A]
    int masked = call(b, "where", {pixelsInBins(b, bins, v[0], axis), withAxes(b, x, {2}), nothing});
    return call(b, isMax ? "max" : "sum", {masked}, {{"axes", IntList{4}}});
  };
  int out = pooled(pooled(image, columns, 3), rows, 2);
  int height = minus(b, rows.end, rows.first), width = minus(b, columns.end, columns.first);
  int count = withAxes(b, times(b, withAxes(b, height, {2}), withAxes(b, width, {1})), {1}); // [K, 1, OH, OW]
  int one = constantLike(b, 1, count);
  int mean = isMax ? out : call(b, "div", {out, call(b, "maximum", {count, one})});
  return {call(b, "where", {call(b, "greater_equal", {count, one}), mean, constantLike(b, 0, mean)})};
}

/// The second image is taken at every displacement at once, [N, C, places, places, H, W]; patches are averaged last.
Values correlation(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int64_t kernel = op.i64("kernel_size"), most = op.i64("max_displacement"), step = op.i64("stride2");
  int64_t reach = most / step, places = 2 * reach + 1, stride = op.i64("stride1");
  IntList border = {0, 0, op.i64("pad_size"), op.i64("pad_size")};
  auto padded = [&](int x) { return call(b, "pad", {x}, {{"low", border}, {"high", border}}); };
  int x = padded(v[0]), y = padded(v[1]);
  llvm::SmallVector<int, 2> indices;
  for (unsigned axis : {2u, 3u}) {
    x = sliceOf(b, x, axis, most, most == 0 ? INT64_MAX : -most);
    int shift = call(
        b, "arange", {},
        {{"num", places}, {"start", double(most - reach * step)}, {"step", double(step)}, {"dtype", DType::Int32}});
    int place = numbersAlong(b, x, axis, DType::Int32);
    indices.push_back(plus(b, withAxes(b, shift, {1}), place)); // [places, inner]
  }
  int moved = call(b, "index_get", {y, withAxes(b, indices[0], {1, 3}), withAxes(b, indices[1], {0, 2})},
                   {{"axes", IntList{2, 3}}});
  int here = withAxes(b, x, {2, 3});
  int likeness = op.boolean("is_multiply") ? times(b, here, moved) : call(b, "abs", {minus(b, here, moved)});
  int mean = call(b, "mean", {likeness}, {{"axes", IntList{1}}});
  int images = call(b, "flatten", {mean}, {{"start_axis", 1}, {"end_axis", 2}});
  return {call(b, "avg_pool2d", {images},
               {{"kernel_size", IntList{kernel, kernel}}, {"strides", IntList{stride, stride}}})};
}

} // namespace tess::forwards
