//===- NormRules.cpp - normalisation as operators ------------------------===//
#include "ops/ForwardRules.h"
#include "ops/GradientRules.h"
#include "ops/GraphPieces.h"

#include <cmath>

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
  int count = countOf(b, x, axes), one = constantLike(b, 1, x);
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

static IntList lastAxes(unsigned rank, int64_t count) {
  IntList axes;
  for (int64_t i = rank - count; i < int64_t(rank); ++i)
    axes.push_back(i);
  return axes;
}

/// value / sqrt(mean(value^2) + epsilon), then with scale and bias where they are given.
static int normalised(SubgraphBuilder &b, const OpDef &op, int value, llvm::ArrayRef<int> parameters) {
  IntList axes = lastAxes(b.meta(value).rank(), op.i64("axes"));
  int square = call(b, "mean", {call(b, "square", {value})}, {{"axes", axes}, {"keepdims", true}});
  int factor = call(b, "rsqrt", {call(b, "add", {square, constantLike(b, op.attr("epsilon"), value)})});
  int out = call(b, "mul", {value, factor});
  if (!parameters.empty())
    out = call(b, "mul", {out, parameters[0]});
  return parameters.size() > 1 ? call(b, "add", {out, parameters[1]}) : out;
}

Values layerNorm(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  IntList axes = lastAxes(b.meta(v[0]).rank(), op.i64("axes"));
  int mu = call(b, "mean", {v[0]}, {{"axes", axes}, {"keepdims", true}});
  return {normalised(b, op, call(b, "sub", {v[0], mu}), v.drop_front())};
}

Values rmsNorm(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return {normalised(b, op, v[0], v.drop_front())};
}

/// (sum of |x|^ord)^(1 / ord) over `axes`.
static int vectorNorm(SubgraphBuilder &b, int x, double ord, const AttrValue &axes, bool keepdims) {
  auto reduced = [&](const char *name, int value) {
    return call(b, name, {value}, {{"axes", axes}, {"keepdims", keepdims}});
  };
  if (ord == 2)
    return call(b, "sqrt", {reduced("sum", call(b, "square", {x}))});
  int magnitude = call(b, "abs", {x});
  if (std::isinf(ord))
    return reduced(ord > 0 ? "max" : "min", magnitude);
  int sum = reduced("sum", call(b, "pow", {magnitude, constantLike(b, ord, x)}));
  return call(b, "pow", {sum, constantLike(b, 1 / ord, sum)});
}

Values norm(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return {vectorNorm(b, v[0], op.f64("ord"), op.attr("axes"), op.boolean("keepdims"))};
}

Values normalize(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  int size = vectorNorm(b, v[0], op.f64("ord"), op.attr("axes"), true);
  return {call(b, "div", {v[0], call(b, "maximum", {size, constantLike(b, op.attr("epsilon"), size)})})};
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
  int centred = call(b, "sub", {x, v[8]}), count = countOf(b, x, batchAxes(b.meta(x).rank()));
  if (v[10] >= 0)
    addOutputGradient(b, v, x, centred, count, grads);
  addStatisticsGradients(b, op, v, centred, count, grads);
  addSavedGradients(b, v, centred, count, grads);
  return grads;
}

} // namespace gradients

} // namespace tess
