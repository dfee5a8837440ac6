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

/// An attribute of one number for the width, after `height`.
static IntList inPlane(const OpDef &op, const char *name, int64_t height) { return {height, op.ints(name)[0]}; }

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
