//===- KernelNodes.h - values of a kernel's nodes ---------------*- C++ -*-===//
#pragma once

#include "compiler/emit/KernelLookups.h"
#include "compiler/emit/KernelPhases.h"

namespace tess::compiler {

/// Builds every node in the outermost scope that its inputs allow, and writes nodes to operands and to scratch.
class KernelNodes {
public:
  KernelNodes(const KernelSpec &spec, LaneBuilder &b, KernelScopes &scopes, KernelSizes &sizes, KernelIndices &indices,
              KernelOperands &operands, KernelLookups &lookups, KernelPhases &phases)
      : spec(spec), b(b), scopes(scopes), sizes(sizes), indices(indices), operands(operands), lookups(lookups),
        phases(phases), values(scopes), splats(scopes) {}

  /// The value of a node: from the scope that has it, else built in the outermost scope that has its inputs.
  ScopedValue valueOf(int index);
  /// The value of a node as 16 lanes; a scalar is repeated.
  V lanesOf(int index);
  /// The value of a node at the elements where the scopes stand: lanes where these are open.
  V current(int index) { return scopes.hasLanes() ? lanesOf(index) : valueOf(index).value; }
  /// Makes `value` the value of a node until the innermost scope ends.
  void define(int index, V value) { values.set(scopes.innermost(), index, value); }

  /// Writes what the current phase has for each element of the domain, to operands and to scratch.
  void storeElements();
  /// Writes what the row has one of.
  void storeRows();

private:
  ScopedValue build(int index);
  ScopedValue buildLeaf(const KernelNode &node);
  ScopedValue buildApply(const KernelNode &node);
  ScopedValue buildNumber(const KernelNode &node);
  V attribute(const KernelNode &node);
  ScopedValue placeOf(llvm::ArrayRef<int16_t> indices, int slot);
  void store(const KernelStore &store);
  void storeAtIndices(const KernelStore &store);

  const KernelSpec &spec;
  LaneBuilder &b;
  KernelScopes &scopes;
  KernelSizes &sizes;
  KernelIndices &indices;
  KernelOperands &operands;
  KernelLookups &lookups;
  KernelPhases &phases;
  ScopeMemo<int, V> values;                      // by node
  ScopeMemo<std::pair<int, unsigned>, V> splats; // by node, lanes
};

} // namespace tess::compiler
