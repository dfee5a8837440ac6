//===- KernelPhases.h - values that wait for later phases -------*- C++ -*-===//
//
// Elements of the domain wait in scratch, a row of them at a time. Values of a row
// wait, where lanes are columns, in a buffer with a vector for every 16 columns of
// a block.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/emit/KernelIndices.h"
#include "compiler/emit/LaneAccess.h"
#include "compiler/kernel/KernelAnalysis.h"

#include <optional>

namespace tess::compiler {

/// The phase that a kernel is in, and the memory of what earlier ones left.
class KernelPhases {
public:
  KernelPhases(const KernelSpec &spec, const KernelPlan &plan, LaneBuilder &b, mlir::Value scratch,
               KernelScopes &scopes, KernelSizes &sizes, KernelIndices &indices, LaneAccess &access)
      : spec(spec), plan(plan), b(b), scratch(scratch), scopes(scopes), sizes(sizes), indices(indices), access(access) {
  }

  void enter(unsigned number) { phase = number; }
  /// The phase that was entered last.
  unsigned now() const { return phase; }
  /// Whether the current phase computes the node.
  bool computes(int node) const { return plan.phase[node] == phase; }
  /// Whether a later phase reads the node from scratch.
  bool spills(int node) const { return plan.scratchOffset[node] >= 0 && computes(node); }

  /// Writes the node's lanes to its slot of scratch.
  void spill(int node, V lanes);
  /// Writes the node's lanes to `buffer`; after hold(), find() reads them from there.
  void keep(V lanes, mlir::Value buffer) { b.store(lanes, placeIn(buffer, lanes.elem())); }
  void hold(int node, mlir::Value buffer) { held[node] = buffer; }
  /// Reads the value that an earlier phase left of the node, if one did.
  std::optional<ScopedValue> find(int node);

private:
  mlir::Value placeIn(mlir::Value buffer, Elem elem) { return b.address(buffer, indices.columnInBlock(), elem); }
  mlir::Value slotOf(int node);
  mlir::Value elementInSlot(int node, Elem elem);
  V reload(int node);

  const KernelSpec &spec;
  const KernelPlan &plan;
  LaneBuilder &b;
  const mlir::Value scratch;
  KernelScopes &scopes;
  KernelSizes &sizes;
  KernelIndices &indices;
  LaneAccess &access;
  unsigned phase = 0;
  llvm::DenseMap<int, mlir::Value> slots; // of scratch, by node
  llvm::DenseMap<int, mlir::Value> held;  // buffers, by node
};

} // namespace tess::compiler
