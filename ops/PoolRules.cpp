//===- PoolRules.cpp - windows of images as operators --------------------===//
#include "ops/ForwardRules.h"
#include "ops/GradientRules.h"
#include "ops/GraphPieces.h"

#include <cmath>

namespace tess {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

namespace forwards {

/// The means of `count` runs that cover `axis`: run i is [i * n / count, ceil((i + 1) * n / count)).
static int adaptiveMean(SubgraphBuilder &b, int x, unsigned axis, int64_t count) {
  Shape shape = b.meta(x).shape;
  int64_t size = shape[axis];
  llvm::SmallVector<int, 8> parts;
  for (int64_t i = 0; i < count; ++i) {
    IntList starts(shape.size(), 0), stops(shape.size(), INT64_MAX);
    starts[axis] = i * size / count;
    stops[axis] = ((i + 1) * size + count - 1) / count;
    int part = call(b, "slice", {x}, {{"starts", starts}, {"stops", stops}});
    parts.push_back(call(b, "mean", {part}, {{"axes", IntList{int64_t(axis)}}, {"keepdims", true}}));
  }
  return parts.size() == 1 ? parts[0] : call(b, "concat", parts, {{"axis", int64_t(axis)}});
}

/// A window is a product of two runs, so rows and columns are averaged one after the other.
Values adaptiveAvgPool2d(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  const IntList &size = op.ints("output_size");
  int64_t height = b.meta(v[0]).shape[2], width = b.meta(v[0]).shape[3];
  if (height == kUnknown || width == kUnknown || height == 0 || width == 0) {
    b.fail(invalidArgument(op.name() + ": height and width must be known and not 0, got " + toString(b.meta(v[0]))));
    return {-1};
  }
  if (height % size[0] == 0 && width % size[1] == 0) {
    IntList window = {height / size[0], width / size[1]};
    return {call(b, "avg_pool2d", {v[0]}, {{"kernel_size", window}, {"strides", window}})};
  }
  return {adaptiveMean(b, adaptiveMean(b, v[0], 2, size[0]), 3, size[1])};
}

} // namespace forwards

namespace {

/// All windows of an image at once, one position in them at a time: element (i, j) of every window is a strided slice.
class Windows {
public:
  Windows(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int64_t> numWindows)
      : b(b), kernel(op.ints("kernel_size")), strides(op.ints("strides")), padding(op.ints("padding")),
        numWindows(numWindows) {}

  int64_t size() const { return kernel[0] * kernel[1]; }
  int padded(int image, double border) const {
    if (padding[0] == 0 && padding[1] == 0)
      return image;
    IntList border2d = {0, 0, padding[0], padding[1]};
    return call(b, "pad", {image}, {{"low", border2d}, {"high", border2d}, {"value", border}});
  }
  /// Element `index` of each window, in row-major order.
  int element(int image, int64_t index) const {
    IntList starts = {0, 0, index / kernel[1], index % kernel[1]}, stops = {INT64_MAX, INT64_MAX};
    for (unsigned axis : {0u, 1u})
      stops.push_back(starts[2 + axis] + (numWindows[axis] - 1) * strides[axis] + 1);
    return call(b, "slice", {image},
                {{"starts", starts}, {"stops", stops}, {"steps", IntList{1, 1, strides[0], strides[1]}}});
  }

private:
  SubgraphBuilder &b;
  const IntList &kernel, &strides, &padding;
  llvm::ArrayRef<int64_t> numWindows;
};

} // namespace

namespace gradients {

/// The rule is linear in dout: its gradient for the result of a window is the value that arrives at the first largest
/// element of the window in x. Operands are x, out and dout.
Values maxPool2dBackward(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, llvm::ArrayRef<bool>) {
  Shape windows = b.meta(v[1]).shape;
  if (windows[2] == kUnknown || windows[3] == kUnknown) {
    b.fail(invalidArgument(op.name() + ": height and width of out must be known for the gradient, got " +
                           toString(b.meta(v[1]))));
    return {-1, -1, -1};
  }
  Windows all(b, op, llvm::ArrayRef<int64_t>(windows).drop_front(2));
  int x = all.padded(v[0], NAN), dgrad = all.padded(v[4], 0); // a border equals no result
  int largest =
      call(b, "max_pool2d", {v[0]},
           {{"kernel_size", op.ints("kernel_size")}, {"strides", op.ints("strides")}, {"padding", op.ints("padding")}});
  int none = fullLike(b, largest, 0), taken = -1, found = -1;
  for (int64_t i = 0; i < all.size(); ++i) {
    int isLargest = call(b, "equal", {all.element(x, i), largest});
    if (found >= 0)
      isLargest = call(b, "logical_and", {isLargest, call(b, "logical_not", {found})});
    found = found < 0 ? isLargest : call(b, "logical_or", {found, isLargest});
    taken = accumulate(b, taken, call(b, "where", {isLargest, all.element(dgrad, i), none}));
  }
  return {-1, -1, taken};
}

} // namespace gradients

} // namespace tess
