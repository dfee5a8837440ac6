//===- KernelLookups.h - elements at indices that others hold ---*- C++ -*-===//
//
// A wrong index does not stop a kernel, which goes on with the first element of
// the axis: it is reported (runtime::LookupReport), and its caller raises the error.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/emit/KernelOperands.h"

namespace tess::compiler {

/// Reads and writes elements behind those that the position in the domain stands for. A place says how far, in
/// elements of the operand.
class KernelLookups {
public:
  KernelLookups(const KernelSpec &spec, LaneBuilder &b, const KernelArguments &args, KernelScopes &scopes,
                KernelSizes &sizes, KernelOperands &operands, LaneAccess &access)
      : spec(spec), b(b), args(args), scopes(scopes), sizes(sizes), operands(operands), access(access) {}

  /// The place that one index stands for, along the axis of a lookup. `dtype`: of the index.
  ScopedValue placeOf(ScopedValue index, DType dtype, unsigned lookup);
  /// The place that the places of several axes come to.
  ScopedValue sumOf(llvm::ArrayRef<ScopedValue> places);
  /// The element, or the lanes, at a place.
  ScopedValue load(unsigned operand, ScopedValue place);
  /// Writes `value`, which is of the node's dtype, at `place` behind `base`.
  void store(const KernelStore &store, mlir::Value base, V place, V value);

private:
  using Values = LaneBuilder::Values;

  V checked(V index, V size, unsigned lookup);
  void report(V isWrong, V index, unsigned lookup);
  V placesOfLanes(unsigned operand, V place, V step);
  V loadEach(mlir::Value base, unsigned operand, V place, V step);
  void storeLanes(const KernelStore &store, mlir::Value base, V place, V value);
  void storeEach(const KernelStore &store, mlir::Value base, V places, V value);

  const KernelSpec &spec;
  LaneBuilder &b;
  const KernelArguments &args;
  KernelScopes &scopes;
  KernelSizes &sizes;
  KernelOperands &operands;
  LaneAccess &access;
};

} // namespace tess::compiler
