//===- CompileModule.h - the entry for callers that speak MLIR --*- C++ -*-===//
#pragma once

#include "compiler/CompileOptions.h"
#include "compiler/transforms/Passes.h"

namespace tess::compiler {

/// As compile(), for the function "main" of `module`, which is changed.
llvm::Expected<runtime::Executable> compileModule(mlir::ModuleOp module, const CompileOptions &options);
/// An evaluator that compiles for this machine and runs through options.evaluate; empty when options.evaluate is.
ModuleEvaluator moduleEvaluator(const CompileOptions &options);

} // namespace tess::compiler
