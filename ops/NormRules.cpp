//===- NormRules.cpp - normalisation as operators ------------------------===//
#include "ops/ForwardRules.h"
#include "ops/GradientRules.h"
#include "ops/GraphPieces.h"

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
