//===- KernelDialect.h - what kernels are written in ------------*- C++ -*-===//
#pragma once

#include "mlir/IR/MLIRContext.h"

namespace tess::compiler {

/// Loads the LLVM dialect and its translation to LLVM IR.
void loadKernelDialect(mlir::MLIRContext &context);

} // namespace tess::compiler
