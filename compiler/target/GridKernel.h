//===- GridKernel.h - a KernelSpec as the host's code of a grid -*- C++ -*-===//
#pragma once

#include "compiler/emit/KernelEmitter.h"

namespace tess::compiler {

/// Appends a function `name` that computes `spec` (verified) to `module`, to be called as a GridKernelFn
/// (runtime/schema/KernelAbi.h).
void emitGridKernel(mlir::ModuleOp module, llvm::StringRef name, const KernelSpec &spec,
                    const KernelEmitOptions &options);

} // namespace tess::compiler
