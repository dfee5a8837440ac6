//===- Opt.cpp - tess-opt: run passes over text ---------------------------===//
#include "compiler/Opt.h"
#include "compiler/CompileModule.h"
#include "compiler/Pipeline.h"
#include "compiler/lowering/KernelPasses.h"
#include "ir/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int tess::compiler::runOpt(int argc, char **argv, const CompileOptions &options) {
  mlir::DialectRegistry registry;
  registry.insert<ir::TessDialect, mlir::func::FuncDialect>();
  ModuleEvaluator evaluate = moduleEvaluator(options);
  mlir::registerPass([&] { return createFoldConstantsPass(evaluate); }); // the first of a name wins
  registerTessPasses();
  registerTessKernelPasses();
  mlir::registerTransformsPasses();
  mlir::PassPipelineRegistration<> pipeline(
      "tess-pipeline", "every pass from a graph to kernels, in order",
      [&](mlir::OpPassManager &manager) { buildPipeline(manager, options, ir::Numerics::Strict, evaluate); });
  mlir::PassPipelineRegistration<> fastPipeline(
      "tess-pipeline-fast", "the same with the passes that may move bits",
      [&](mlir::OpPassManager &manager) { buildPipeline(manager, options, ir::Numerics::Fast, evaluate); });
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tess-opt: Tessera's passes\n", registry));
}
