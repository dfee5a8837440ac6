//===- Pipeline.h - the passes in order -------------------------*- C++ -*-===//
#pragma once

#include "compiler/Compile.h"

#include "mlir/Pass/PassManager.h"

namespace tess::compiler {

/// Appends the passes from a user's graph to one that can be lowered to steps.
void buildPipeline(mlir::OpPassManager &manager, const CompileOptions &options);

} // namespace tess::compiler
