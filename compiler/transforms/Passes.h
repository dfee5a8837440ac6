//===- Passes.h - graph to graph --------------------------------*- C++ -*-===//
#pragma once

#include "compiler/target/KernelChoice.h"
#include "ir/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>

namespace tess::compiler {

#define GEN_PASS_DECL
#include "compiler/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Passes.h.inc"

/// Runs a module's function "main", which has no arguments; the row-major bytes of its results.
using ModuleEvaluator = std::function<mlir::FailureOr<std::vector<std::string>>(mlir::ModuleOp)>;
/// Without `evaluate` the pass changes nothing.
std::unique_ptr<mlir::Pass> createFoldConstantsPass(ModuleEvaluator evaluate);
/// `choice` says how much to fold; null: all of it.
std::unique_ptr<mlir::Pass> createFoldEpiloguePass(const KernelChoice *choice, llvm::StringRef target);

} // namespace tess::compiler
