//===- KernelWindows.h - positions within bounds ----------------*- C++ -*-===//
#pragma once

#include "compiler/emit/KernelSizes.h"

namespace tess::compiler {

/// Positions [lo, hi) of a group.
struct IndexRange {
  V lo, hi;
};

/// Positions that have an element, by the bounds of a kernel.
class KernelWindows {
public:
  KernelWindows(const KernelSpec &spec, LaneBuilder &b, KernelScopes &scopes, KernelSizes &sizes)
      : spec(spec), b(b), scopes(scopes), sizes(sizes) {}

  /// Positions of a reduced group where its parallel group stands now, if that is at one index; else all.
  IndexRange withinReduced(unsigned reduced);
  /// Columns of the last parallel group that have an element at every position of their reduced group.
  IndexRange wholeColumns();

private:
  /// Numbers of a bound (runtime::BoundNumber).
  struct Numbers {
    V stride, dilation, padding, extent;
  };
  Numbers numbersOf(const AxisBound &bound);

  const KernelSpec &spec;
  LaneBuilder &b;
  KernelScopes &scopes;
  KernelSizes &sizes;
};

} // namespace tess::compiler
