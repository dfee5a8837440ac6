//===- PixelPieces.cpp - what rules about images are written with --------===//
#include "ops/graphs/PixelPieces.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::pieces {

/// Ones along an axis of a value whose size there is not known, [n].
static int onesAlong(SubgraphBuilder &b, int x, unsigned axis, DType dtype) {
  IntList starts(b.meta(x).rank(), 0), stops(b.meta(x).rank(), 1), others;
  stops[axis] = INT64_MAX;
  for (unsigned i = 0; i < b.meta(x).rank(); ++i)
    if (i != axis)
      others.push_back(i);
  int line = castTo(b, call(b, "slice", {x}, {{"starts", starts}, {"stops", stops}}), dtype);
  if (!others.empty())
    line = call(b, "sum", {line}, {{"axes", others}});
  return call(b, "full_like", {line}, {{"value", 1.0}});
}

int sizeOf(SubgraphBuilder &b, int x, unsigned axis, DType dtype) {
  if (x < 0)
    return -1; // the builder has an error
  int64_t size = b.meta(x).shape[axis];
  if (size != kUnknown)
    return call(b, "scalar_tensor", {}, {{"value", size}, {"dtype", dtype}});
  return call(b, "sum", {onesAlong(b, x, axis, dtype)});
}

int numbersAlong(SubgraphBuilder &b, int x, unsigned axis, DType dtype) {
  if (x < 0)
    return -1;
  int64_t size = b.meta(x).shape[axis];
  if (size != kUnknown)
    return call(b, "arange", {}, {{"num", size}, {"dtype", dtype}});
  return call(b, "cumsum", {onesAlong(b, x, axis, dtype)}, {{"axis", 0}, {"exclusive", true}});
}

/// c[0] + c[1] * d + c[2] * d^2 + ...
static int polynomial(SubgraphBuilder &b, int d, llvm::ArrayRef<double> c) {
  int sum = constantLike(b, c.back(), d);
  for (double term : llvm::reverse(c.drop_back()))
    sum = plus(b, times(b, sum, d), constantLike(b, term, d));
  return sum;
}

Taps tapsAt(SubgraphBuilder &b, llvm::StringRef mode, int position) {
  int one = constantLike(b, 1, position);
  if (mode == "nearest")
    return {call(b, "floor", {plus(b, position, constantLike(b, 0.5, position))}), {}};
  int below = call(b, "floor", {position}), t = minus(b, position, below), rest = minus(b, one, t);
  if (mode == "linear")
    return {below, {rest, t}};
  // Keys' kernel for a = -0.75, of distances below 1 and from 1 to 2.
  auto near = [&](int d) { return polynomial(b, d, {1, 0, -2.25, 1.25}); };
  auto far = [&](int d) { return polynomial(b, d, {3, -6, 3.75, -0.75}); };
  return {minus(b, below, one), {far(plus(b, one, t)), near(t), near(rest), far(plus(b, one, rest))}};
}

int tapPlace(SubgraphBuilder &b, const Taps &taps, unsigned number) {
  return number == 0 ? taps.first : plus(b, taps.first, constantLike(b, double(number), taps.first));
}

/// Places from 0 to below `period` of what begins again after it.
static int wrapped(SubgraphBuilder &b, int place, int period) { return call(b, "mod", {place, period}); }

int borderIndex(SubgraphBuilder &b, llvm::StringRef borderMode, int place, int size) {
  int zero = constantLike(b, 0, place), one = constantLike(b, 1, place), last = minus(b, size, one);
  if (borderMode == "wrap") {
    place = wrapped(b, place, size);
  } else if (borderMode == "reflect") {
    int period = plus(b, size, size), p = wrapped(b, place, period);
    place = call(b, "minimum", {p, minus(b, minus(b, period, one), p)});
  } else if (borderMode == "reflect_101") {
    int period = call(b, "maximum", {plus(b, last, last), one}), p = wrapped(b, place, period);
    place = call(b, "minimum", {p, minus(b, period, p)});
  }
  place = call(b, "where", {call(b, "equal", {place, place}), place, zero});
  place = call(b, "maximum", {call(b, "minimum", {place, last}), zero});
  return castTo(b, place, DType::Int32);
}

int interpolated(SubgraphBuilder &b, int x, int positions, int size, unsigned axis, llvm::StringRef mode) {
  if (x < 0)
    return -1;    // the builder has an error
  IntList behind; // axes that the weights need after their own
  for (unsigned i = axis + 1; i < b.meta(x).rank(); ++i)
    behind.push_back(i - axis);
  Taps taps = tapsAt(b, mode, positions);
  int sum = -1;
  for (unsigned i = 0; i < taps.weights.size(); ++i) {
    int index = borderIndex(b, "replicate", tapPlace(b, taps, i), size), weight = taps.weights[i];
    if (!behind.empty())
      weight = withAxes(b, weight, behind);
    sum = accumulate(b, sum, times(b, call(b, "index_get", {x, index}, {{"axes", IntList{axis}}}), weight));
  }
  return sum;
}

namespace {

/// Takes pixels of images [N, C, H, W].
class Sampler {
public:
  Sampler(SubgraphBuilder &b, int images, llvm::StringRef interpolation, llvm::StringRef border, AttrValue borderValue,
          const char *caller = "take_along_axes");
  int at(int image, int y, int x) const;

private:
  int clamped(int position, int size) const;
  int inside(int place, int size) const;
  int taken(llvm::ArrayRef<int> values, const IntList &axes) const {
    return call(b, "take_along_axes", values, {{"axes", axes}, {"caller", caller}});
  }
  int pixel(int image, int y, int x) const;

  SubgraphBuilder &b;
  int images;
  llvm::StringRef interpolation, border;
  AttrValue borderValue;
  const char *caller; // that errors name
  int height, width;
};

} // namespace

Sampler::Sampler(SubgraphBuilder &b, int images, llvm::StringRef interpolation, llvm::StringRef border,
                 AttrValue borderValue, const char *caller)
    : b(b), images(images), interpolation(interpolation), border(border), borderValue(std::move(borderValue)),
      caller(caller), height(sizeOf(b, images, 2, b.meta(images).dtype)),
      width(sizeOf(b, images, 3, b.meta(images).dtype)) {}

/// No further away than where all taps are outside, so that an infinite position has weights.
int Sampler::clamped(int position, int size) const {
  if (border != "replicate" && border != "constant")
    return position;
  int above = call(b, "minimum", {position, plus(b, size, constantLike(b, 1, size))});
  return call(b, "maximum", {above, constantLike(b, -2, above)});
}

int Sampler::inside(int place, int size) const {
  return call(b, "logical_and",
              {call(b, "greater_equal", {place, constantLike(b, 0, place)}), call(b, "less", {place, size})});
}

int Sampler::pixel(int image, int y, int x) const {
  int row = borderIndex(b, border, y, height), column = borderIndex(b, border, x, width);
  int value =
      image < 0 ? taken({images, withAxes(b, row, {1}), withAxes(b, column, {1})}, {2, 3})
                : taken({images, withAxes(b, image, {1}), withAxes(b, row, {1}), withAxes(b, column, {1})}, {0, 2, 3});
  if (border != "constant")
    return value;
  int isInside = withAxes(b, call(b, "logical_and", {inside(y, height), inside(x, width)}), {1});
  return call(b, "where", {isInside, value, constantLike(b, borderValue, value)});
}

int Sampler::at(int image, int y, int x) const {
  Taps rows = tapsAt(b, interpolation, clamped(y, height)), columns = tapsAt(b, interpolation, clamped(x, width));
  auto weighted = [&](int value, int weight) { return times(b, value, withAxes(b, weight, {1})); };
  if (rows.weights.empty())
    return pixel(image, rows.first, columns.first);
  int sum = -1;
  for (unsigned i = 0; i < rows.weights.size(); ++i) {
    int line = -1;
    for (unsigned j = 0; j < columns.weights.size(); ++j) {
      int value = pixel(image, tapPlace(b, rows, i), tapPlace(b, columns, j));
      line = accumulate(b, line, weighted(value, columns.weights[j]));
    }
    sum = accumulate(b, sum, weighted(line, rows.weights[i]));
  }
  return sum;
}

int pixelsAt(SubgraphBuilder &b, int images, int y, int x, llvm::StringRef interpolation, llvm::StringRef border,
             AttrValue borderValue) {
  return Sampler(b, images, interpolation, border, std::move(borderValue)).at(-1, y, x);
}

int pixelsOf(SubgraphBuilder &b, const OpDef &op, int images, int image, int y, int x, llvm::StringRef interpolation,
             llvm::StringRef border, AttrValue borderValue) {
  return Sampler(b, images, interpolation, border, std::move(borderValue), op.info().name).at(image, y, x);
}

} // namespace tess::pieces
