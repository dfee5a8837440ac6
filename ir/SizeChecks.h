//===- SizeChecks.h - equal sizes that a run must find ----------*- C++ -*-===//
//
// Inference takes sizes for equal that their expressions do not show to be so. An
// operator that runs as it is finds out when its program binds; a composite becomes
// operators that repeat an axis of size 1, so the program checks what it needs.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/GraphBuilder.h"

namespace tess::ir {

/// The size that an axis of an operand must have.
struct SizeCheck {
  unsigned operand, axis;
  int64_t size; // a number or an expression
};

/// Whether an operator's runs do not find out by themselves.
inline bool needsSizeChecks(const OpDef &op) { return op.info().lowering == Lowering::Composite; }
/// What an operator on `operands`, whose free sizes are expressions, needs and nothing shows; nothing where its runs
/// find out.
llvm::SmallVector<SizeCheck, 2> sizeChecks(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                           llvm::ArrayRef<unsigned> segments);

/// `operands` of `op`, checked: each that a check is of goes through `match_size`. The checks' sizes are in symbols of
/// the graph.
llvm::Error appendChecks(GraphBuilder &builder, const OpDef &op, llvm::ArrayRef<SizeCheck> checks,
                         llvm::MutableArrayRef<GraphBuilder::Value> operands, llvm::StringRef location);

} // namespace tess::ir
