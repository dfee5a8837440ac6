//===- TripSizes.h - a loop in whose trips data decides a size --*- C++ -*-===//
#pragma once

#include "ops/graphs/Control.h"
#include "ops/graphs/GraphPieces.h"
#include "tests/runtime/Expect.h"

namespace tess::test {

/// A trip of (total, x) -> total + s, stacking s: the sum of the elements of x above 0, times `count` ones. `sized`:
/// the value of the body whose axis 0 says how many ones; -1: that of those elements.
inline OpDef positiveSums(int sized = -1) {
  SubgraphBuilder b;
  int total = b.input(TensorMeta(DType::Float32, {})), x = b.input(TensorMeta(DType::Float32, {4}));
  int found = pieces::call(b, "mask_get", {x, pieces::call(b, "greater", {x, pieces::constantLike(b, 0, x)})});
  int64_t size = sizes::symbol(control::bodySymbol(sized < 0 ? found : sized, 0));
  int ones = pieces::call(b, "full", {}, {{"shape", IntList{size}}, {"value", 1.0}});
  int sum = pieces::call(b, "sum", {pieces::call(b, "mul", {found, ones})});
  return control::scan(get(b.finish({pieces::call(b, "add", {total, sum}), sum})), 0, 1, {});
}

} // namespace tess::test
