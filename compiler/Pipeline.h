//===- Pipeline.h - the passes in order -------------------------*- C++ -*-===//
#pragma once

#include "compiler/Compile.h"
#include "compiler/transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace tess::compiler {

/// Appends the passes from a user's graph to one that can be lowered to steps. `evaluate` (may be empty) computes
/// constants.
void buildPipeline(mlir::OpPassManager &manager, const CompileOptions &options, ModuleEvaluator evaluate);

} // namespace tess::compiler
