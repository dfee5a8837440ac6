//===- KernelIndices.cpp - numbers of the current elements ----------------===//
#include "compiler/emit/KernelIndices.h"

namespace tess::compiler {

V KernelIndices::reducedNumber(unsigned depth) {
  V memo = reduced.lookup(scopes.serialOf(depth));
  if (memo || depth == 0)
    return memo;
  V number = reducedNumber(depth - 1);
  llvm::ArrayRef<GroupIndex> groups = scopes.groupsAt(depth);
  if (!groups.empty() && groups.back().group >= spec.numParallel) {
    V outer = number, extent = outer ? sizes.size(groups.back().group) : V();
    number = scopes.at(depth, [&] { return outer ? outer * extent + groups.back().index : groups.back().index; });
  }
  return reduced[scopes.serialOf(depth)] = number;
}

V KernelIndices::reducedNumbers(Elem elem) {
  V number = b.convert(reducedNumber(), elem);
  if (!scopes.hasLanes())
    return number;
  return spec.vectorAxis == VectorAxis::Reduced ? b.splat(number) + b.iota(elem) : b.splat(number);
}

ScopedValue KernelIndices::domainNumbers() {
  unsigned depth = scopes.innermost();
  if (!scopes.hasLanes())
    return {numberAlone(depth), depth};
  bool parallel = spec.vectorAxis == VectorAxis::Parallel;
  V last = parallel ? sizes.size(spec.numParallel - 1) : V();
  V count = spec.numReduced ? sizes.reducedCount() : V();
  V inner = reducedNumber(depth);
  V numbers = scopes.at(depth, [&] {
    V base = row ? row : b.index(0), step = b.index(1);
    if (parallel)
      base = base * last + scopes.lanes()->index;
    if (spec.numReduced) {
      base = base * count + inner;
      step = parallel ? count : step;
    }
    return b.splat(base) + b.iota(Elem::I64) * b.splat(step);
  });
  return {numbers, depth};
}

/// The number for a thread that computes one element at a time.
V KernelIndices::numberAlone(unsigned depth) {
  V count = spec.numReduced ? sizes.reducedCount() : V(), inner = reducedNumber(depth);
  return scopes.at(depth, [&] { return spec.numReduced ? row * count + inner : row; });
}

ScopedValue KernelIndices::along(unsigned group) {
  unsigned depth = scopes.depthOf(group);
  const GroupIndex &open = scopes.positionIn(group);
  V indices = scopes.at(depth, [&] { return open.lanes ? b.splat(open.index) + b.iota(Elem::I64) : open.index; });
  return {indices, depth};
}

} // namespace tess::compiler
