//===- PoolRules.cpp - windows of images as operators --------------------===//
#include "ops/graphs/GradientRules.h"
#include "ops/graphs/GraphPieces.h"
#include "ops/vocabulary/SizeExpr.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace tess {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

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
      int64_t reach = sizes::multiply(sizes::add(numWindows[axis], -1), strides[axis]);
      stops[2 + axis] = sizes::add(reach, starts[2 + axis] + 1);
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
      call(b, b.meta(v[0]).rank() > 4 ? "max_pool3d" : "max_pool2d", {v[0]},
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
