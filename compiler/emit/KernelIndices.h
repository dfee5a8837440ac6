//===- KernelIndices.h - numbers of the current elements --------*- C++ -*-===//
#pragma once

#include "compiler/emit/KernelSizes.h"

namespace tess::compiler {

/// Numbers of the elements that are computed where the scopes stand: in the domain, in parts of it, in a block.
class KernelIndices {
public:
  KernelIndices(const KernelSpec &spec, LaneBuilder &b, KernelScopes &scopes, KernelSizes &sizes)
      : spec(spec), b(b), scopes(scopes), sizes(sizes) {}

  /// Enters a row: the row-major index over the outer groups. Before the first call it is 0.
  void enterRow(V index) { row = index; }
  /// Enters a block of columns, from `firstColumn` on: column kernels, and tiles, work on blocks.
  void enterBlock(V firstColumn) { blockStart = firstColumn; }

  /// The column as a place in a buffer of the block, in elements.
  V columnInBlock() const { return scopes.indexOf(spec.numParallel - 1) - blockStart; }
  /// Row-major index over the reduced groups that the scopes up to `depth` entered, a scalar; null if they entered
  /// none.
  V reducedNumber(unsigned depth);
  V reducedNumber() { return reducedNumber(scopes.innermost()); }
  /// Row-major numbers of the elements in the reduced domain, as lanes where these are open.
  V reducedNumbers(Elem elem);
  /// Row-major numbers in the whole domain.
  ScopedValue domainNumbers();
  /// Indices along one group.
  ScopedValue along(unsigned group);

private:
  V numberAlone(unsigned depth);

  const KernelSpec &spec;
  LaneBuilder &b;
  KernelScopes &scopes;
  KernelSizes &sizes;
  V row, blockStart;
  llvm::DenseMap<unsigned, V> reduced; // by the scope's serial number
};

} // namespace tess::compiler
