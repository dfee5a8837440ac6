//===- ScalarLowering.h - records' bodies as kernel nodes -------*- C++ -*-===//
//
// Appends the nodes of one operator to a KernelSpec, with the dtypes that the
// record leaves open: constants take the type of what they meet.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/KernelSpec.h"
#include "ops/OpDef.h"

namespace tess::compiler {

/// Appends nodes to `spec`.
class NodeBuilder {
public:
  explicit NodeBuilder(KernelSpec &spec) : spec(spec) {}

  int16_t load(int16_t operand);
  int16_t constant(double value, DType dtype);
  int16_t cast(int16_t node, DType dtype);
  int16_t reduce(ReduceKind kind, int16_t arg, DType dtype);
  /// The body of `op` over the nodes of its operands; `results` are the dtypes of its results. Appends a slot for each
  /// runtime attribute of the operator, in order. One node for every result.
  llvm::SmallVector<int16_t, 2> elementwise(const OpDef &op, llvm::ArrayRef<int16_t> operands,
                                            llvm::ArrayRef<DType> results);
  /// Marks the last node of an operator: a narrow float is rounded here. A bare operand needs no rounding.
  int16_t finish(int16_t node, DType dtype);

private:
  int16_t add(KernelNode node);

  KernelSpec &spec;
};

} // namespace tess::compiler
