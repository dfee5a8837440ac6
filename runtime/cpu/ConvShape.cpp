//===- ConvShape.cpp - sizes of windows over images -----------------------===//
#include "runtime/cpu/ConvShape.h"

namespace tess::runtime::cpu {

/// Axis `axis` of a window whose attributes have an entry for each axis, or one for all of them.
static SpatialAxis spatialAxis(const OpDef &op, unsigned axis, int64_t size, int64_t results) {
  auto entry = [&](llvm::StringRef name) {
    const IntList &list = op.ints(name);
    return list.size() > 1 ? list[axis] : list[0];
  };
  SpatialAxis window;
  window.size = size;
  window.results = results;
  window.stride = entry("strides");
  window.pad = entry("padding");
  return window;
}

/// The weight is (out, in / groups, *kernel).
static ConvShape convShape(const OpDef &op, llvm::ArrayRef<int64_t> image, llvm::ArrayRef<int64_t> weight,
                           llvm::ArrayRef<int64_t> result) {
  ConvShape shape = {};
  shape.batch = image[0];
  shape.groups = op.i64("groups");
  shape.in = image[1] / shape.groups;
  shape.out = result[1] / shape.groups;
  shape.numAxes = unsigned(image.size()) - 2;
  for (unsigned axis = 0; axis < shape.numAxes; ++axis) {
    SpatialAxis &window = shape.axes[ConvShape::kMostAxes - shape.numAxes + axis];
    window = spatialAxis(op, axis, image[2 + axis], result[2 + axis]);
    window.dilation = op.ints("dilation")[axis];
    window.kernel = weight[2 + axis];
  }
  return shape;
}

ConvShape forwardShape(const PrepareRequest &r) {
  return convShape(r.op, r.inputs[0].shape, r.inputs[1].shape, r.outputs[0].shape);
}

ConvShape transposedShape(const PrepareRequest &r) {
  return convShape(r.op, r.outputs[0].shape, r.inputs[1].shape, r.inputs[0].shape);
}

ConvShape backwardDataShape(const PrepareRequest &r) {
  return convShape(r.op, r.outputs[0].shape, r.inputs[0].shape, r.inputs[1].shape);
}

ConvShape backwardWeightShape(const PrepareRequest &r) {
  return convShape(r.op, r.inputs[0].shape, r.outputs[0].shape, r.inputs[1].shape);
}

PoolShape poolShape(const OpDef &op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> result) {
  PoolShape shape = {x[0], x[1], unsigned(x.size() - 2), {}, {}, {}};
  SpatialAxis *axes[] = {&shape.depth, &shape.rows, &shape.columns};
  for (auto [axis, window] : llvm::enumerate(llvm::ArrayRef(axes).take_back(shape.numAxes))) {
    *window = spatialAxis(op, unsigned(axis), x[2 + axis], result[2 + axis]);
    window->kernel = op.ints("kernel_size")[axis];
  }
  return shape;
}

llvm::SmallVector<SpatialAxis, 3> PoolShape::spatial() const {
  llvm::SmallVector<SpatialAxis, 3> axes = {depth, rows, columns};
  axes.erase(axes.begin(), axes.end() - numAxes);
  return axes;
}

} // namespace tess::runtime::cpu
