//===- KernelWindows.cpp - positions within bounds ------------------------===//
#include "compiler/emit/KernelWindows.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::compiler {

using runtime::BoundNumber;

KernelWindows::Numbers KernelWindows::numbersOf(const AxisBound &bound) {
  unsigned index = unsigned(&bound - spec.bounds.begin());
  return {sizes.bound(index, BoundNumber::Stride), sizes.bound(index, BoundNumber::Dilation),
          sizes.bound(index, BoundNumber::Padding), sizes.bound(index, BoundNumber::Extent)};
}

/// `a / b` rounded towards minus infinity, for a >= 0 and b > 0, which is 1 more often than not.
static V quotient(V a, V b) {
  LaneBuilder &builder = a.b();
  auto divide = [&] { return LaneBuilder::Values{builder.binary(LaneBuilder::Bin::UDiv, a, b)}; };
  return builder.ifElse(eq(b, builder.index(1)), [&] { return LaneBuilder::Values{a}; }, divide)[0];
}

/// Number of 0, step, 2 * step, ... that are below `end`.
static V countBelow(V end, V step) {
  V zero = end.b().index(0);
  return quotient(select(gt(end, zero), end, zero) + step - end.b().index(1), step);
}

IndexRange KernelWindows::withinReduced(unsigned reduced) {
  V count = sizes.size(spec.numParallel + reduced);
  const AxisBound *bound = llvm::find_if(spec.bounds, [&](AxisBound b) { return b.reduced == reduced; });
  if (bound == spec.bounds.end() || scopes.positionIn(bound->parallel).lanes)
    return {b.index(0), count};
  auto [stride, dilation, padding, extent] = numbersOf(*bound);
  return scopes.at(scopes.depthOf(bound->parallel), [&] {
    V start = scopes.indexOf(bound->parallel) * stride;
    V before = padding - start; // elements from the first of the window to that of the axis
    V end = countBelow(before + extent, dilation);
    return IndexRange{countBelow(before, dilation), select(lt(end, count), end, count)};
  });
}

IndexRange KernelWindows::wholeColumns() {
  unsigned column = spec.numParallel - 1;
  const AxisBound *bound = llvm::find_if(spec.bounds, [&](AxisBound b) { return b.parallel == column; });
  if (bound == spec.bounds.end())
    return {b.index(0), sizes.size(column)};
  auto [stride, dilation, padding, extent] = numbersOf(*bound);
  V count = sizes.size(spec.numParallel + bound->reduced);
  return scopes.at(0, [&] {
    V room = extent + padding - (count - b.index(1)) * dilation; // for the first elements of windows
    return IndexRange{countBelow(padding, stride), countBelow(room, stride)};
  });
}

} // namespace tess::compiler
