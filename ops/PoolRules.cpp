//===- PoolRules.cpp - windows of images as operators --------------------===//
#include "ops/ForwardRules.h"
#include "ops/GradientRules.h"
#include "ops/GraphPieces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cmath>

namespace tess {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

namespace forwards {

/// What `reduce` makes of each of `count` runs that cover `axis`: run i is [i * n / count, ceil((i + 1) * n / count)).
static int overRuns(SubgraphBuilder &b, int x, unsigned axis, int64_t count, llvm::function_ref<int(int)> reduce) {
  int64_t size = b.meta(x).shape[axis];
  llvm::SmallVector<int, 8> parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(reduce(sliceOf(b, x, axis, i * size / count, ((i + 1) * size + count - 1) / count)));
  return parts.size() == 1 ? parts[0] : call(b, "concat", parts, {{"axis", int64_t(axis)}});
}

/// Whether height and width are numbers above 0, which the windows follow from; else the builder gets an error.
static bool hasPixels(SubgraphBuilder &b, const OpDef &op, int x) {
  if (llvm::all_of(llvm::ArrayRef(b.meta(x).shape).drop_front(2), [](int64_t size) { return size > 0; }))
    return true;
  b.fail(invalidArgument(op.name() + ": height and width must be known and not 0, got " + toString(b.meta(x))));
  return false;
}

/// The windows, where they are of one size and do not overlap; else empty.
static IntList evenWindows(const Shape &image, const IntList &size) {
  if (image[2] % size[0] != 0 || image[3] % size[1] != 0)
    return {};
  return {image[2] / size[0], image[3] / size[1]};
}

/// A window is a product of two runs, so rows and columns are averaged one after the other.
Values adaptiveAvgPool2d(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  const IntList &size = op.ints("output_size");
  if (!hasPixels(b, op, v[0]))
    return {-1};
  if (IntList window = evenWindows(b.meta(v[0]).shape, size); !window.empty())
    return {call(b, "avg_pool2d", {v[0]}, {{"kernel_size", window}, {"strides", window}})};
  auto mean = [&](int64_t axis) {
    return [&b, axis](int run) { return call(b, "mean", {run}, {{"axes", IntList{axis}}, {"keepdims", true}}); };
  };
  return {overRuns(b, overRuns(b, v[0], 2, size[0], mean(2)), 3, size[1], mean(3))};
}

/// Columns first, then rows: the first of equal elements of a window is the one that a pooling of it would find.
Values adaptiveMaxPool2d(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  const IntList &size = op.ints("output_size");
  if (!hasPixels(b, op, v[0]))
    return {-1};
  if (IntList window = evenWindows(b.meta(v[0]).shape, size); !window.empty())
    return {call(b, "max_pool2d", {v[0]}, {{"kernel_size", window}, {"strides", window}})};
  auto columns = [&](int run) {
    return call(b, "max_pool2d", {run}, {{"kernel_size", IntList{1, b.meta(run).shape[3]}}});
  };
  auto rows = [&](int run) {
    return call(b, "max_pool2d", {run}, {{"kernel_size", IntList{b.meta(run).shape[2], 1}}});
  };
  return {overRuns(b, overRuns(b, v[0], 3, size[1], columns), 2, size[0], rows)};
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
