//===- ConvShape.cpp - sizes of a two-dimensional window ------------------===//
#include "runtime/cpu/ConvShape.h"

namespace tess::runtime::cpu {

/// Reads an attribute for two axes; a single number stands for both.
static void pair(const OpDef &op, llvm::StringRef name, int64_t (&out)[2]) {
  const IntList &list = op.ints(name);
  out[0] = list[0];
  out[1] = list.size() > 1 ? list[1] : list[0];
}

static ConvShape windowShape(const OpDef &op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> result) {
  ConvShape shape = {};
  shape.batch = x[0];
  shape.groups = 1;
  shape.height = x[2];
  shape.width = x[3];
  shape.outHeight = result[2];
  shape.outWidth = result[3];
  pair(op, "strides", shape.stride);
  pair(op, "padding", shape.pad);
  shape.dilation[0] = shape.dilation[1] = 1;
  return shape;
}

ConvShape convShape(const OpDef &op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> weight,
                    llvm::ArrayRef<int64_t> result) {
  ConvShape shape = windowShape(op, x, result);
  pair(op, "dilation", shape.dilation);
  shape.groups = op.i64("groups");
  shape.in = x[1] / shape.groups;
  shape.out = result[1] / shape.groups;
  shape.kernel[0] = weight[weight.size() - 2];
  shape.kernel[1] = weight[weight.size() - 1];
  return shape;
}

ConvShape poolShape(const OpDef &op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> result) {
  ConvShape shape = windowShape(op, x, result);
  pair(op, "kernel_size", shape.kernel);
  shape.in = shape.out = x[1];
  return shape;
}

} // namespace tess::runtime::cpu
