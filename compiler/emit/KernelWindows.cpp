//===- KernelWindows.cpp - positions within bounds ------------------------===//
#include "compiler/emit/KernelBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace tess::compiler {

using runtime::BoundNumber;

KernelBuilder::BoundNumbers KernelBuilder::numbersOf(const AxisBound &bound) {
  unsigned index = unsigned(&bound - spec.bounds.begin());
  auto number = [&](BoundNumber which) { return dim(spec.dims().bound(index, which)); };
  return {number(BoundNumber::Stride), number(BoundNumber::Dilation), number(BoundNumber::Padding),
          number(BoundNumber::Extent)};
}

/// `a / b` rounded towards minus infinity, for a >= 0 and b > 0, which is 1 more often than not.
static V quotient(V a, V b) {
  LaneBuilder &builder = a.b();
  auto divide = [&] { return LaneBuilder::Values{builder.binary(LaneBuilder::Bin::UDiv, a, b)}; };
  return builder.ifElse(eq(b, builder.index(1)), [&] { return LaneBuilder::Values{a}; }, divide)[0];
}

/// How many of 0, step, 2 * step, ... are below `end`.
static V countBelow(V end, V step) {
  V zero = end.b().index(0);
  return quotient(select(gt(end, zero), end, zero) + step - end.b().index(1), step);
}

KernelBuilder::Range KernelBuilder::withinReduced(unsigned reduced) {
  V count = size(spec.numParallel + reduced);
  const AxisBound *bound = llvm::find_if(spec.bounds, [&](AxisBound b) { return b.reduced == reduced; });
  if (bound == spec.bounds.end() || openIndex(bound->parallel).lanes)
    return {b.index(0), count};
  auto [stride, dilation, padding, extent] = numbersOf(*bound);
  return at(depthOf(bound->parallel), [&] {
    V before = padding - indexOf(bound->parallel) * stride; // elements from the first of the window to that of the axis
    V end = countBelow(before + extent, dilation);
    return Range{countBelow(before, dilation), select(lt(end, count), end, count)};
  });
}

KernelBuilder::Range KernelBuilder::wholeColumns() {
  unsigned column = spec.numParallel - 1;
  const AxisBound *bound = llvm::find_if(spec.bounds, [&](AxisBound b) { return b.parallel == column; });
  if (bound == spec.bounds.end())
    return {b.index(0), size(column)};
  auto [stride, dilation, padding, extent] = numbersOf(*bound);
  V count = size(spec.numParallel + bound->reduced);
  return at(0, [&] {
    V room = extent + padding - (count - b.index(1)) * dilation; // for the first elements of windows
    return Range{countBelow(padding, stride), countBelow(room, stride)};
  });
}

// Elements of windows mostly lie one place apart, or two; those of other operands two, as parts of numbers, or
// backward.
V KernelBuilder::loadApart(mlir::Value base, Elem elem, V step) {
  auto isStep = [&](int64_t value) { return eq(step, b.index(value)); };
  auto others = [&] { return Values{loadLanes(base, elem, InnerClass::Strided, step)}; };
  auto pairs = [&] { return Values{loadPairs(base, elem)}; };
  auto apart = [&] { return b.ifElse(isStep(2), pairs, others); };
  if (spec.bounds.empty())
    return b.ifElse(isStep(-1), [&] { return Values{loadBackward(base, elem)}; }, apart)[0];
  return b.ifElse(isStep(1), [&] { return Values{b.load(base, elem, true)}; }, apart)[0];
}

V KernelBuilder::loadBackward(mlir::Value base, Elem elem) {
  int32_t last = int32_t(b.lanes()) - 1;
  V lanes = b.load(b.addressConst(base, -last, elem), elem, true);
  return b.shuffle(lanes, llvm::to_vector(llvm::reverse(llvm::seq_inclusive<int32_t>(0, last))));
}

// The second vector begins one element early, because there may be nothing behind the last lane's.
V KernelBuilder::loadPairs(mlir::Value base, Elem elem) {
  int32_t count = int32_t(b.lanes());
  V first = b.load(base, elem, true), second = b.load(b.addressConst(base, count - 1, elem), elem, true);
  llvm::SmallVector<int32_t, kLanes> lanes;
  for (int32_t lane : llvm::seq<int32_t>(0, count))
    lanes.push_back(lane < count / 2 ? 2 * lane : 2 * lane + 1);
  return b.shuffle(first, second, lanes);
}

} // namespace tess::compiler
