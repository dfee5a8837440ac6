//===- SequenceRules.cpp - windows of sequences, as images of height 1 ----===//
#include "ops/ForwardRules.h"
#include "ops/GraphPieces.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::forwards {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

static const IntList kHeight = {2};

static int asImage(SubgraphBuilder &b, int x) { return call(b, "expand_dims", {x}, {{"axis", kHeight}}); }
static int asSequence(SubgraphBuilder &b, int x) { return call(b, "squeeze", {x}, {{"axis", kHeight}}); }

/// An attribute of one number for the width, after `height`; one of two stays.
static IntList inPlane(const OpDef &op, const char *name, int64_t height) {
  const IntList &given = op.ints(name);
  return given.size() == 2 ? given : IntList{height, given[0]};
}

Values conv1d(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int out = call(b, "conv2d", {asImage(b, v[0]), asImage(b, v[1])},
                 {{"strides", inPlane(op, "strides", 1)},
                  {"padding", inPlane(op, "padding", 0)},
                  {"dilation", inPlane(op, "dilation", 1)},
                  {"groups", op.attr("groups")}});
  return {asSequence(b, out)};
}

/// The gradient of a convolution by an image of which only the shape counts: an element of x for each sample, repeated.
Values convTranspose(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  llvm::Expected<Metas> metas = op.infer({b.meta(v[0]), b.meta(v[1])});
  if (!metas) {
    b.fail(metas.takeError());
    return {-1};
  }
  bool isSequence = b.meta(v[0]).rank() == 3;
  int x = isSequence ? asImage(b, v[0]) : v[0], weight = isSequence ? asImage(b, v[1]) : v[1];
  IntList shape((*metas)[0].shape.begin(), (*metas)[0].shape.end());
  if (isSequence)
    shape.insert(shape.begin() + 2, 1);
  shape[0] = -1;
  if (llvm::is_contained(shape, kUnknown)) {
    b.fail(invalidArgument(op.name() + ": sizes besides the batch must be known, got " + toString(b.meta(v[0]))));
    return {-1};
  }
  int first = sliceOf(b, sliceOf(b, sliceOf(b, x, 1, 0, 1), 2, 0, 1), 3, 0, 1);
  int grad = call(b, "conv2d_backward_data", {weight, x, call(b, "broadcast_to", {first}, {{"shape", shape}})},
                  {{"strides", inPlane(op, "strides", 1)},
                   {"padding", inPlane(op, "padding", 0)},
                   {"dilation", inPlane(op, "dilation", 1)},
                   {"groups", op.attr("groups")}});
  return {isSequence ? asSequence(b, grad) : grad};
}

/// One image whose rows are the channels, if there are any: for images of height 1 eager compiles each window anew.
Values maxPool1d(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  const IntList added = {b.meta(v[0]).shape[1] == 0 ? 2 : 0};
  int image = call(b, "expand_dims", {v[0]}, {{"axis", added}});
  int out = call(b, "max_pool2d", {image},
                 {{"kernel_size", inPlane(op, "kernel_size", 1)},
                  {"strides", inPlane(op, "strides", 1)},
                  {"padding", inPlane(op, "padding", 0)}});
  return {call(b, "squeeze", {out}, {{"axis", added}})};
}

Values avgPool1d(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return {asSequence(b, call(b, "avg_pool2d", {asImage(b, v[0])},
                             {{"kernel_size", inPlane(op, "kernel_size", 1)},
                              {"strides", inPlane(op, "strides", 1)},
                              {"padding", inPlane(op, "padding", 0)},
                              {"count_include_pad", op.attr("count_include_pad")}}))};
}

static Values adaptive(SubgraphBuilder &b, const OpDef &op, const char *pool, int x) {
  return {asSequence(b, call(b, pool, {asImage(b, x)}, {{"output_size", inPlane(op, "output_size", 1)}}))};
}

Values adaptiveAvgPool1d(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return adaptive(b, op, "adaptive_avg_pool2d", v[0]);
}

Values adaptiveMaxPool1d(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return adaptive(b, op, "adaptive_max_pool2d", v[0]);
}

} // namespace tess::forwards
