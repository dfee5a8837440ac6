//===- KernelEmitter.h - a KernelSpec as one function -----------*- C++ -*-===//
//
// Writes the kernel in the LLVM dialect: an
// unmasked main loop and one masked tail along the vector axis, or one loop for
// a long body, phases over the reduced domain. Private to the compiler: names
// MLIR.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/KernelAnalysis.h"

#include "mlir/IR/BuiltinOps.h"

namespace tess::compiler {

/// What the emitted code may use of the machine.
struct KernelEmitOptions {
  /// The machine has masked loads and stores of 8- and 16-bit elements (AVX512BW); otherwise tails of them go by
  /// element.
  bool narrowMasks = false;
};

/// Appends a function `name` that computes `spec` (verified) to `module`; returns the plan that it follows.
KernelPlan emitKernel(mlir::ModuleOp module, llvm::StringRef name, const KernelSpec &spec,
                      const KernelEmitOptions &options);

} // namespace tess::compiler
