//===- Passes.h - graph to graph --------------------------------*- C++ -*-===//
#pragma once

#include "compiler/transforms/FittedSchedule.h"
#include "compiler/transforms/KernelBoundary.h"
#include "ir/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>

namespace tess::compiler {

#define GEN_PASS_DECL
#include "compiler/transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/transforms/Passes.h.inc"

/// Runs a module's function "main", which has no arguments, and returns the row-major bytes of its results.
using ModuleEvaluator = std::function<mlir::FailureOr<std::vector<std::string>>(mlir::ModuleOp)>;
/// The pass FoldConstants; with an empty `evaluate` it changes nothing.
std::unique_ptr<mlir::Pass> createFoldConstantsPass(ModuleEvaluator evaluate);
/// The pass FuseElementwise, which calls `report` for neighbours in kernels of their own; it may be empty.
std::unique_ptr<mlir::Pass> createFuseElementwisePass(bool fuse, ReportBoundary report);
/// The pass FitMemory, which calls `report` with what it did; it may be empty.
std::unique_ptr<mlir::Pass> createFitMemoryPass(int64_t limit, ReportSchedule report);

} // namespace tess::compiler
