//===- Pipeline.cpp - the passes in order ---------------------------------===//
#include "compiler/Pipeline.h"

#include "mlir/Transforms/Passes.h"

namespace tess::compiler {

void buildPipeline(mlir::OpPassManager &manager, const CompileOptions &options, ir::Numerics numerics,
                   ModuleEvaluator evaluate) {
  const bool isFast = numerics == ir::Numerics::Fast;
  mlir::OpPassManager &func = manager.nest<mlir::func::FuncOp>();
  // First: all later passes see primitives only, and CSE finds what composites have in common.
  func.addPass(createExpandCompositesPass({/*marksParts=*/isFast}));
  // Views in a row hide producers from fusion.
  func.addPass(createSimplifyPass());
  // After views are merged, because that may show that an operand is a constant; before CSE, which merges equal
  // results.
  if (evaluate)
    func.addPass(createFoldConstantsPass(evaluate));
  // Constants must be known by now; arithmetic on them is left to the pass behind.
  if (isFast)
    func.addPass(createReassociatePass());
  if (isFast && evaluate)
    func.addPass(createFoldConstantsPass(std::move(evaluate)));
  // Composites must be expanded, because parts of one may stay the same; before CSE, which then sees what was moved out
  // of several loops.
  func.addPass(createHoistInvariantsPass());
  // Composites must be expanded, too: gradients of linear layers are products only then.
  func.addPass(createSumTripProductsPass());
  // Backward graphs repeat subexpressions of the forward graph. CSE also removes the gradients that nothing reads.
  func.addPass(mlir::createCSEPass());
  // After CSE, because a product or a sum with a second reader must stay; before fusion, which would take the sum.
  func.addPass(createAccumulateProductsPass());
  // After CSE, which would undo it; before fusion, which takes what is computed again into the kernels that read it.
  if (options.leastSavedBytes)
    func.addPass(createRematerialisePass({*options.leastSavedBytes}));
  // After this pass nothing may move operators into or out of a kernel.
  func.addPass(createFuseElementwisePass(options.fuse, options.boundary));
  // After fusion, because the order of kernels is the order of launches.
  func.addPass(createSinkUpdatesPass({/*raise=*/options.memoryLimit.has_value()}));
  // After kernels have their order, because it decides what is in memory at a time.
  if (options.memoryLimit)
    func.addPass(createFitMemoryPass(*options.memoryLimit, options.schedule));
  // Last, because a copy that a later pass saw might be fused, merged with another, or no longer needed.
  func.addPass(createInsertCopiesPass());
}

} // namespace tess::compiler
