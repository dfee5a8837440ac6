//===- Dialect.h - the `tess` dialect ---------------------------*- C++ -*-===//
//
// Dialect class and the operators that only programs have. The operators of the
// records are used by name (OpBridge.h); their classes stay in Ops.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/ElementTypes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/Dialect.h.inc"

namespace tess::ir {

/// Checks that an operator of a record has no attributes but those of the record and those that passes add.
llvm::LogicalResult verifyAttributes(mlir::Operation *op);

/// Trait of all operators of records.
template <typename Op> class RecordAttributes : public mlir::OpTrait::TraitBase<Op, RecordAttributes> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyAttributes(op); }
};

} // namespace tess::ir

#define GET_OP_CLASSES
#include "ir/Structure.h.inc"
