//===- ForwardRules.cpp - composites of sums, products, ranges -----------===//
#include "ops/ForwardRules.h"
#include "ops/GraphPieces.h"
#include "ops/SizeExpr.h"

namespace tess::forwards {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

Values sumTo(SubgraphBuilder &b, const OpDef &, llvm::ArrayRef<int> v) { return {sumOfBroadcast(b, v[0], v[1])}; }

Values linear(SubgraphBuilder &b, const OpDef &, llvm::ArrayRef<int> v) {
  bool isVector = b.meta(v[0]).rank() == 1;
  int x = isVector ? call(b, "expand_dims", {v[0]}, {{"axis", IntList{0}}}) : v[0];
  int out = call(b, "matmul", {x, v[1]}, {{"transpose_y", true}});
  if (isVector)
    out = call(b, "squeeze", {out}, {{"axis", IntList{0}}});
  return {v.size() > 2 ? call(b, "add", {out, v[2]}) : out};
}

/// linspace of a number of elements that only the run knows, with the roundings of arange.
static int openLinspace(SubgraphBuilder &b, const OpDef &op) {
  const DType dtype = op.attr("dtype").dtype(), compute = isNarrowFloat(dtype) ? DType::Float32 : dtype;
  double start = op.f64("start"), stop = op.f64("stop");
  int64_t num = op.i64("num"), last = sizes::maximum(sizes::subtract(num, 1), 1);
  int pieces = call(b, "scalar_tensor", {}, {{"value", last}, {"dtype", DType::Float64}});
  int step = castTo(b, call(b, "div", {constant(b, stop - start, DType::Float64), pieces}), compute);
  int index = call(b, "arange", {}, {{"num", num}, {"start", 0.0}, {"step", 1.0}, {"dtype", compute}});
  int out = call(b, "add", {constant(b, start, compute), call(b, "mul", {index, step})});
  return castTo(b, out, dtype);
}

Values linspace(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int>) {
  double start = op.f64("start"), stop = op.f64("stop");
  int64_t num = op.i64("num");
  if (sizes::isSymbolic(num))
    return {openLinspace(b, op)};
  double step = num > 1 ? (stop - start) / double(num - 1) : 0;
  return {call(b, "arange", {}, {{"num", num}, {"start", start}, {"step", step}, {"dtype", op.attr("dtype")}})};
}

} // namespace tess::forwards
