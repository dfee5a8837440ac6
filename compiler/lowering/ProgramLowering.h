//===- ProgramLowering.h - a fused function to steps ------------*- C++ -*-===//
//
// Lists values, operators and steps of the executable. Kernels are specs still;
// Step::image indexes `kernels` and Compile puts the images there.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/KernelSpec.h"
#include "compiler/transforms/KernelChoice.h"
#include "runtime/schema/Executable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tess::compiler {

/// An executable without images, and the kernels that become them.
struct LoweredProgram {
  runtime::Executable executable;
  /// One for each distinct image, its entries in order; Executable::images will have the same order.
  std::vector<KernelUnit> kernels;
};

/// `func` has been through the pipeline: only fusions, constants, views, movements and library calls are left. `choice`
/// (may be null) names the implementations of library calls on `target`.
mlir::FailureOr<LoweredProgram> lowerProgram(mlir::func::FuncOp func, const KernelChoice *choice,
                                             llvm::StringRef target);

} // namespace tess::compiler
