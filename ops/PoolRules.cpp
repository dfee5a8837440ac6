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

static bool isVolume(SubgraphBuilder &b, int x) { return b.meta(x).rank() > 4; }
/// The pooling of images with as many axes as those of `x`.
static const char *maxPoolOf(SubgraphBuilder &b, int x) { return isVolume(b, x) ? "max_pool3d" : "max_pool2d"; }
static const char *avgPoolOf(SubgraphBuilder &b, int x) { return isVolume(b, x) ? "avg_pool3d" : "avg_pool2d"; }

/// Whether the sizes of the image are numbers above 0, which the windows follow from; else the builder gets an error.
static bool hasPixels(SubgraphBuilder &b, const OpDef &op, int x) {
  if (llvm::all_of(llvm::ArrayRef(b.meta(x).shape).drop_front(2), [](int64_t size) { return size > 0; }))
    return true;
  b.fail(invalidArgument(op.name() + ": " + (isVolume(b, x) ? "depth, " : "") +
                         "height and width must be known and not 0, got " + toString(b.meta(x))));
  return false;
}

/// The pooling where windows are of one size and distance; -1 where they are uneven.
static int evenly(SubgraphBuilder &b, const OpDef &op, const char *pool, int x) {
  IntList kernel, strides;
  for (auto [size, count] : llvm::zip_equal(llvm::ArrayRef(b.meta(x).shape).drop_front(2), op.ints("output_size"))) {
    if (op.boolean("uneven") && size % count != 0)
      return -1;
    strides.push_back(size / count);
    kernel.push_back(size - (count - 1) * strides.back());
  }
  return call(b, pool, {x}, {{"kernel_size", kernel}, {"strides", strides}});
}

/// A window is a product of runs, so the axes are averaged one after the other.
Values adaptiveAvgPool(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  if (!hasPixels(b, op, v[0]))
    return {-1};
  if (int even = evenly(b, op, avgPoolOf(b, v[0]), v[0]); even >= 0)
    return {even};
  int out = v[0];
  for (auto [index, count] : llvm::enumerate(op.ints("output_size"))) {
    IntList axes = {int64_t(2 + index)};
    out = overRuns(b, out, unsigned(axes[0]), count,
                   [&](int run) { return call(b, "mean", {run}, {{"axes", axes}, {"keepdims", true}}); });
  }
  return {out};
}

/// The last axis first: the first of equal elements of a window is the one that a pooling of it would find.
Values adaptiveMaxPool(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  if (!hasPixels(b, op, v[0]))
    return {-1};
  if (int even = evenly(b, op, maxPoolOf(b, v[0]), v[0]); even >= 0)
    return {even};
  const IntList &counts = op.ints("output_size");
  int out = v[0];
  for (unsigned index = counts.size(); index-- > 0;)
    out = overRuns(b, out, 2 + index, counts[index], [&](int run) {
      IntList window(counts.size(), 1);
      window[index] = b.meta(run).shape[2 + index];
      return call(b, maxPoolOf(b, run), {run}, {{"kernel_size", window}, {"strides", IntList(counts.size(), 1)}});
    });
  return {out};
}

} // namespace forwards

namespace {

/// All windows of an image at once, one position in them at a time: element *k of every window is a strided slice.
class Windows {
public:
  Windows(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int64_t> numWindows)
      : b(b), kernel(op.ints("kernel_size")), strides(op.ints("strides")), padding(op.ints("padding")),
        numWindows(numWindows) {}

  int64_t size() const { return llvm::product_of(kernel); }
  int padded(int image, double border) const {
    if (llvm::all_of(padding, [](int64_t size) { return size == 0; }))
      return image;
    IntList sides = {0, 0};
    sides.append(padding);
    return call(b, "pad", {image}, {{"low", sides}, {"high", sides}, {"value", border}});
  }
  /// Element `index` of each window, in row-major order.
  int element(int image, int64_t index) const {
    IntList starts(2 + kernel.size(), 0), stops(starts.size(), INT64_MAX), steps = {1, 1};
    steps.append(strides);
    for (unsigned axis = kernel.size(); axis-- > 0; index /= kernel[axis]) {
      starts[2 + axis] = index % kernel[axis];
      stops[2 + axis] = starts[2 + axis] + (numWindows[axis] - 1) * strides[axis] + 1;
    }
    return call(b, "slice", {image}, {{"starts", starts}, {"stops", stops}, {"steps", steps}});
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
Values maxPoolBackward(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, llvm::ArrayRef<bool>) {
  Shape windows = b.meta(v[1]).shape;
  if (llvm::is_contained(llvm::ArrayRef<int64_t>(windows).drop_front(2), kUnknown)) {
    b.fail(invalidArgument(op.name() + ": sizes of the images of out must be known for the gradient, got " +
                           toString(b.meta(v[1]))));
    return {-1, -1, -1};
  }
  Windows all(b, op, llvm::ArrayRef<int64_t>(windows).drop_front(2));
  int x = all.padded(v[0], NAN), dgrad = all.padded(v[4], 0); // a border equals no result
  int largest =
      call(b, forwards::maxPoolOf(b, v[0]), {v[0]},
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
