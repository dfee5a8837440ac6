//===- KernelBuilder.h - the objects that build a kernel --------*- C++ -*-===//
//
// Each knows those above it: scopes; sizes; numbers of elements; lanes in memory;
// operands; lookups; what waits for later phases; nodes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/emit/KernelNodes.h"

namespace tess::compiler {

/// Holds the objects that build one kernel function.
struct KernelBuilder {
  /// Builds before `end`, the end of the entry block, and in the scopes that open there. `narrowMasks`:
  /// KernelEmitOptions.
  KernelBuilder(const KernelSpec &spec, const KernelPlan &plan, LaneBuilder &b, const KernelArguments &arguments,
                bool narrowMasks, mlir::Operation *end)
      : spec(spec), plan(plan), b(b), args(arguments), scopes(b, end), sizes(spec, b, scopes, args.dims),
        indices(spec, b, scopes, sizes), access(b, scopes, narrowMasks, !spec.bounds.empty()),
        operands(spec, b, args, scopes, sizes, indices, access),
        lookups(spec, b, args, scopes, sizes, operands, access),
        phases(spec, plan, b, args.scratch, scopes, sizes, indices, access),
        nodes(spec, b, scopes, sizes, indices, operands, lookups, phases) {}
  KernelBuilder(const KernelBuilder &) = delete;

  const KernelSpec &spec;
  const KernelPlan &plan;
  LaneBuilder &b;
  const KernelArguments args;
  KernelScopes scopes;
  KernelSizes sizes;
  KernelIndices indices;
  LaneAccess access;
  KernelOperands operands;
  KernelLookups lookups;
  KernelPhases phases;
  KernelNodes nodes;
};

} // namespace tess::compiler
