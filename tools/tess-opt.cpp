//===- tess-opt.cpp - run passes over text --------------------------------===//
#include "compiler/CompileModule.h"
#include "compiler/Pipeline.h"
#include "compiler/lowering/KernelPasses.h"
#include "eager/classes/HostOptions.h"
#include "ir/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<tess::ir::TessDialect, mlir::func::FuncDialect>();
  tess::compiler::CompileOptions options = tess::eager::hostOptions();
  tess::compiler::ModuleEvaluator evaluate = tess::compiler::moduleEvaluator(options);
  mlir::registerPass([&] { return tess::compiler::createFoldConstantsPass(evaluate); }); // the first of a name wins
  tess::compiler::registerTessPasses();
  tess::compiler::registerTessKernelPasses();
  mlir::registerTransformsPasses();
  mlir::PassPipelineRegistration<> pipeline(
      "tess-pipeline", "every pass from a graph to kernels, in order",
      [&](mlir::OpPassManager &manager) { tess::compiler::buildPipeline(manager, options, evaluate); });
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tess-opt: Tessera's passes\n", registry));
}
