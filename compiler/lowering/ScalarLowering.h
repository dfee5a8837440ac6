//===- ScalarLowering.h - records' bodies as kernel nodes -------*- C++ -*-===//
//
// Appends the nodes of one operator to a KernelSpec, with the dtypes that the
// record leaves open: constants take the type of what they meet.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/NodeBuilder.h"
#include "ops/operator/OpDef.h"

namespace tess::compiler {

/// The body of `op` over the nodes of its operands; `results` are the dtypes of its results. Appends a slot for each
/// runtime attribute of the operator, in order. Returns one node for every result.
llvm::SmallVector<int16_t, 2> lowerElementwise(NodeBuilder &nodes, const OpDef &op, llvm::ArrayRef<int16_t> operands,
                                               llvm::ArrayRef<DType> results);

} // namespace tess::compiler
