//===- NormRules.cpp - normalisation as operators ------------------------===//
#include "ops/ForwardRules.h"
#include "ops/GradientRules.h"
#include "ops/GraphPieces.h"
#include "ops/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace tess {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

/// Every axis except 1: the statistics of a batch are taken over these.
static IntList batchAxes(unsigned rank) {
  IntList axes;
  for (unsigned i = 0; i < rank; ++i)
    if (i != 1)
      axes.push_back(i);
  return axes;
}

namespace forwards {

/// The new statistic, momentum * running + (1 - momentum) * batch.
static int moved(SubgraphBuilder &b, int running, int batch, const AttrValue &momentum) {
  int rest = call(b, "sub", {constant(b, 1, DType::Float64), constant(b, momentum, DType::Float64)});
  return call(b, "add",
              {call(b, "mul", {running, constantLike(b, momentum, running)}),
               call(b, "mul", {batch, castTo(b, rest, b.meta(running).dtype)})});
}

Values batchNorm(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  DType dtype = b.meta(v[0]).dtype;
  int x = castTo(b, v[0], b.meta(v[1]).dtype);
  IntList axes = batchAxes(b.meta(x).rank());
  auto mean = [&](int value) { return call(b, "mean", {value}, {{"axes", axes}, {"keepdims", true}}); };
  int mu = mean(x);
  int centred = call(b, "sub", {x, mu});
  int var = mean(call(b, "square", {centred}));
  int invStd = call(b, "rsqrt", {call(b, "add", {var, constantLike(b, op.attr("epsilon"), x)})});
  int normal = call(b, "mul", {centred, invStd});
  int out = call(b, "add", {call(b, "mul", {normal, v[1]}), v[2]});
  int count = countOf(b, x, axes, b.meta(x).dtype), one = constantLike(b, 1, x);
  int rest = call(b, "maximum", {call(b, "sub", {count, one}), one});
  int unbiased = call(b, "mul", {var, call(b, "div", {count, rest})});
  const AttrValue &momentum = op.attr("momentum");
  return {castTo(b, out, dtype), moved(b, v[3], mu, momentum), moved(b, v[4], unbiased, momentum), mu, invStd};
}

Values batchNormInference(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  DType dtype = b.meta(v[0]).dtype;
  int x = castTo(b, v[0], b.meta(v[1]).dtype);
  int std = call(b, "sqrt", {call(b, "add", {v[4], constantLike(b, op.attr("epsilon"), v[4])})});
  int scale = call(b, "div", {v[1], std});
  int shift = call(b, "sub", {v[2], call(b, "mul", {v[3], scale})});
  return {castTo(b, call(b, "add", {call(b, "mul", {x, scale}), shift}), dtype)};
}

/// A parameter of channels for a value [N, C, ...] of rank `rank`.
static int ofChannels(SubgraphBuilder &b, int parameter, unsigned rank) {
  IntList behind = llvm::to_vector<4>(llvm::seq<int64_t>(1, rank - 1));
  return behind.empty() ? parameter : call(b, "expand_dims", {parameter}, {{"axis", behind}});
}

/// Over all axes behind that of the groups, into which the channels are split. Eager applies layer_norm as one kernel.
Values groupNorm(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  unsigned rank = b.meta(v[0]).rank();
  int64_t groups = op.i64("num_groups");
  int x = splitAxis(b, op, v[0], 1, groups, sizes::floorDivide(b.meta(v[0]).shape[1], groups));
  OpDef norm = OpDef::get("layer_norm");
  norm.set("axes", int64_t(rank) - 1).set("epsilon", op.attr("epsilon"));
  int out = b.apply(std::move(norm), {x}, {1, 0, 0});
  out = call(b, "flatten", {out}, {{"start_axis", int64_t(1)}, {"end_axis", int64_t(2)}});
  if (v.size() > 1)
    out = call(b, "mul", {out, ofChannels(b, v[1], rank)});
  if (v.size() > 2)
    out = call(b, "add", {out, ofChannels(b, v[2], rank)});
  return {out};
}

/// The sums over neighbouring channels are means of windows of an image of channels and pixels, times their size.
Values localResponseNorm(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int x = v[0];
  int64_t channels = op.i64("kernel_size");
  int square = call(b, "flatten", {call(b, "square", {x})}, {{"start_axis", int64_t(2)}});
  int image = call(b, "expand_dims", {square}, {{"axis", IntList{1}}});
  int mean =
      call(b, "avg_pool2d", {image}, {{"kernel_size", IntList{channels, 1}}, {"padding", IntList{channels / 2, 0}}});
  int sum = call(b, "mul", {reshapeLike(b, mean, x), constantLike(b, double(channels), x)});
  int weighted = call(b, "mul", {sum, constantLike(b, op.attr("alpha"), x)});
  int base = call(b, "add", {weighted, constantLike(b, op.attr("k"), x)});
  return {call(b, "div", {x, call(b, "pow", {base, constantLike(b, op.attr("beta"), x)})})};
}

} // namespace forwards

namespace gradients {

/// Passes `dout` through the normalisation, after S. Ioffe and C. Szegedy, section 3, with normal = (x - mean) *
/// inv_std and n elements per channel: dx = scale * inv_std * (dout - (dbias + normal * dscale) / n).
static void addOutputGradient(SubgraphBuilder &b, llvm::ArrayRef<int> v, int x, int centred, int count, Values &grads) {
  int scale = v[1], invStd = v[9], dout = castTo(b, v[10], b.meta(scale).dtype);
  IntList axes = batchAxes(b.meta(x).rank());
  auto sum = [&](int value) { return call(b, "sum", {value}, {{"axes", axes}, {"keepdims", true}}); };
  int normal = call(b, "mul", {centred, invStd});
  grads[1] = sum(call(b, "mul", {dout, normal}));
  grads[2] = sum(dout);
  int shared = call(b, "div", {call(b, "add", {grads[2], call(b, "mul", {normal, grads[1]})}), count});
  grads[0] = call(b, "mul", {call(b, "mul", {scale, invStd}), call(b, "sub", {dout, shared})});
}

/// Adds the gradients of the running statistics, where these are differentiated.
static void addStatisticsGradients(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, int centred, int count,
                                   Values &grads) {
  int momentum = constantLike(b, op.attr("momentum"), v[1]), one = constantLike(b, 1, v[1]);
  int rest = call(b, "sub", {one, momentum});
  if (int dmean = v[11]; dmean >= 0) {
    grads[3] = call(b, "mul", {dmean, momentum});
    int share = call(b, "div", {call(b, "mul", {dmean, rest}), count});
    grads[0] = accumulate(b, grads[0], broadcastLike(b, share, centred));
  }
  if (int dvar = v[12]; dvar >= 0) {
    grads[4] = call(b, "mul", {dvar, momentum});
    int unbiased = call(b, "maximum", {call(b, "sub", {count, one}), one});
    int share = call(b, "div", {call(b, "mul", {call(b, "mul", {dvar, rest}), constantLike(b, 2, v[1])}), unbiased});
    grads[0] = accumulate(b, grads[0], call(b, "mul", {centred, share}));
  }
}

/// Adds the gradients of the batch's own mean and 1 / sqrt(var + epsilon), which second gradients need: d inv_std / dx
/// = -inv_std^3 * (x - mean) / n.
static void addSavedGradients(SubgraphBuilder &b, llvm::ArrayRef<int> v, int centred, int count, Values &grads) {
  if (int dmean = v[13]; dmean >= 0)
    grads[0] = accumulate(b, grads[0], broadcastLike(b, call(b, "div", {dmean, count}), centred));
  if (int dinvStd = v[14]; dinvStd >= 0) {
    int cube = call(b, "mul", {call(b, "square", {v[9]}), v[9]});
    int share = call(b, "neg", {call(b, "div", {call(b, "mul", {dinvStd, cube}), count})});
    grads[0] = accumulate(b, grads[0], call(b, "mul", {centred, share}));
  }
}

/// Operands are x, scale, bias, running_mean and running_var; results are out, new_mean, new_var, save_mean and
/// save_inv_std.
Values batchNorm(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, llvm::ArrayRef<bool>) {
  Values grads(5, -1);
  int x = castTo(b, v[0], b.meta(v[1]).dtype);
  int centred = call(b, "sub", {x, v[8]}), count = countOf(b, x, batchAxes(b.meta(x).rank()), b.meta(x).dtype);
  if (v[10] >= 0)
    addOutputGradient(b, v, x, centred, count, grads);
  addStatisticsGradients(b, op, v, centred, count, grads);
  addSavedGradients(b, v, centred, count, grads);
  return grads;
}

} // namespace gradients

} // namespace tess
