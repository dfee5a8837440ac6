//===- Pipeline.cpp - the passes in order ---------------------------------===//
#include "compiler/Pipeline.h"
#include "compiler/transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

namespace tess::compiler {

void buildPipeline(mlir::OpPassManager &manager, const CompileOptions &options) {
  mlir::OpPassManager &func = manager.nest<mlir::func::FuncOp>();
  // First, so that every later pass sees primitives only and what composites share is found by CSE.
  func.addPass(createExpandCompositesPass());
  // Views in a row hide producers from fusion.
  func.addPass(createSimplifyPass());
  // Backward graphs repeat the forward's subexpressions; unused gradients go with them.
  func.addPass(mlir::createCSEPass());
  // Last: nothing may move operators in or out of a kernel afterwards.
  func.addPass(createFuseElementwisePass({options.fuse}));
}

} // namespace tess::compiler
