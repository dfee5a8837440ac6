//===- LowerModule.h - kernels to the LLVM dialect --------------*- C++ -*-===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tess::compiler {

/// Loads what kernels are written in, and the translation of it to LLVM IR.
void loadDialects(mlir::MLIRContext &context);
/// scf + arith + math + cf to the LLVM dialect, in place.
mlir::LogicalResult lowerToLlvm(mlir::ModuleOp module);

} // namespace tess::compiler
