//===- ForwardRules.cpp - composites of sums, products, ranges -----------===//
#include "ops/ForwardRules.h"
#include "ops/GraphPieces.h"

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

Values linspace(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int>) {
  double start = op.f64("start"), stop = op.f64("stop");
  int64_t num = op.i64("num");
  double step = num > 1 ? (stop - start) / double(num - 1) : 0;
  return {call(b, "arange", {}, {{"num", num}, {"start", start}, {"step", step}, {"dtype", op.attr("dtype")}})};
}

} // namespace tess::forwards
