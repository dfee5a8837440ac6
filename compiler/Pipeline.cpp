//===- Pipeline.cpp - the passes in order ---------------------------------===//
#include "compiler/Pipeline.h"

#include "mlir/Transforms/Passes.h"

namespace tess::compiler {

void buildPipeline(mlir::OpPassManager &manager, const CompileOptions &options, ModuleEvaluator evaluate) {
  mlir::OpPassManager &func = manager.nest<mlir::func::FuncOp>();
  // First, so that every later pass sees primitives only and what composites share is found by CSE.
  func.addPass(createExpandCompositesPass());
  // Views in a row hide producers from fusion.
  func.addPass(createSimplifyPass());
  // After views are merged, which may show that an operand is a constant; before CSE, which finds equal results.
  if (evaluate)
    func.addPass(createFoldConstantsPass(std::move(evaluate)));
  // Backward graphs repeat the forward's subexpressions; unused gradients go with them.
  func.addPass(mlir::createCSEPass());
  // Before kernels take the elementwise operators, and after CSE, which leaves each value with its real number of
  // readers.
  if (options.fuse)
    func.addPass(createFoldEpiloguePass(options.kernels.get(), options.target));
  // Nothing may move operators in or out of a kernel afterwards.
  func.addPass(createFuseElementwisePass({options.fuse, bool(options.remark)}));
  // Last: the order of kernels is the order of launches.
  func.addPass(createSinkUpdatesPass());
}

} // namespace tess::compiler
