//===- BroadcastCounts.cpp - shapes of which data decides sizes -----------===//
#include "ops/vocabulary/BroadcastCounts.h"
#include "ops/vocabulary/SizeExpr.h"

#include <algorithm>

namespace tess {

/// The larger of two sizes that are equal, or of which one is 1; 0 where either is.
static int64_t commonCount(int64_t a, int64_t b) {
  return sizes::multiply(sizes::maximum(a, b), sizes::minimum(1, sizes::minimum(a, b)));
}

bool broadcastCounts(Shape &shape, llvm::ArrayRef<int64_t> other) {
  const Shape before = shape;
  if (!broadcastInto(shape, other))
    return false;
  for (size_t i = 1; i <= std::min(before.size(), other.size()); ++i) {
    const int64_t mine = before[before.size() - i], theirs = other[other.size() - i];
    if (mine != theirs && sizes::isSymbolic(mine) && sizes::isSymbolic(theirs) &&
        (sizes::dependsOnData(mine) || sizes::dependsOnData(theirs)))
      shape[shape.size() - i] = commonCount(mine, theirs);
  }
  return true;
}

} // namespace tess
