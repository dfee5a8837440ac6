//===- ProgramLowering.h - a fused function to steps ------------*- C++ -*-===//
//
// Lists values, operators and steps of the executable. Kernels are specs still;
// Step::image indexes `kernels` and Compile puts the images there.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernel/KernelAnalysis.h"
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

/// What lowering asks of a target: its name, and how its kernels pass over a row again.
struct LoweringTarget {
  llvm::StringRef name;
  LaterPasses later = LaterPasses::Keep;
};

/// Translates `func`, which has been through the pipeline: only fusions, constants, views, movements, copies and calls
/// are left, each with operands as it reads them. `choice`
/// (may be null) names the implementations of library calls on `target`.
mlir::FailureOr<LoweredProgram> lowerProgram(mlir::func::FuncOp func, const KernelChoice *choice,
                                             const LoweringTarget &target);

} // namespace tess::compiler
