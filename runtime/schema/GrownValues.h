//===- GrownValues.h - what loops without a bound stack ---------*- C++ -*-===//
//
// A grown value (ops/graphs/Control.h) is a stacked result of a loop without a bound, or
// an input that is among the xs of one. No plan has room for it: it lies outside
// of the arena, and nothing but such a loop finds its way about it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/Executable.h"

#include <optional>
#include <vector>

namespace tess::runtime {

/// Whether nothing but its guard ends the loop.
bool hasNoBound(const LoopDecl &loop);
/// By value, whether it is a grown one; empty where there are none. Loops must name values that exist.
std::vector<bool> grownValues(const Executable &executable);
/// A grown value that something else than a loop without a bound reads, or a value that such a loop takes for one.
std::optional<ValueId> misusedGrownValue(const Executable &executable);

} // namespace tess::runtime
