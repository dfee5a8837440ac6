//===- Pipeline.h - the passes in order -------------------------*- C++ -*-===//
#pragma once

#include "compiler/CompileOptions.h"
#include "compiler/transforms/Passes.h"
#include "ir/GraphBuilder.h"

#include "mlir/Pass/PassManager.h"

namespace tess::compiler {

/// Appends the passes that make of a user's graph one that can be lowered to steps. `evaluate` computes constants;
/// empty: none are folded.
void buildPipeline(mlir::OpPassManager &manager, const CompileOptions &options, ir::Numerics numerics,
                   ModuleEvaluator evaluate);

} // namespace tess::compiler
