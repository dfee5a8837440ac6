//===- PtxKernel.h - a KernelSpec as one GPU kernel -------------*- C++ -*-===//
#pragma once

#include "compiler/kernel/KernelSpec.h"

#include "mlir/IR/BuiltinOps.h"

namespace tess::compiler {

/// Appends a kernel `name` that computes `spec` (verified) to `module`, in the LLVM dialect; GpuParameter in
/// runtime/schema/KernelAbi.h says how it is called.
void emitPtxKernel(mlir::ModuleOp module, llvm::StringRef name, const KernelSpec &spec);

} // namespace tess::compiler
