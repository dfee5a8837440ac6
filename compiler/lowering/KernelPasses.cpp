//===- KernelPasses.cpp - fused groups to kernels, for readers ------------===//
#include "compiler/lowering/KernelPasses.h"
#include "compiler/emit/KernelEmitter.h"
#include "compiler/kernel/KernelAnalysis.h"
#include "compiler/lowering/FusionLowering.h"
#include "ir/OpBridge.h"
#include "ops/vocabulary/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tess::compiler {
#define GEN_PASS_DEF_LOWERFUSIONSPASS
#define GEN_PASS_DEF_EMITKERNELSPASS
#include "compiler/lowering/KernelPasses.h.inc"

namespace {

struct LowerFusions : impl::LowerFusionsPassBase<LowerFusions> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::StringMap<FlatSymbolRefAttr> kernels; // by text
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      Layouts layouts;
      layouts.addSignature(func);
      for (Operation &op : func.getBody().getOps()) {
        if (const OpInfo *info = ir::infoOf(&op); info && info->lowering == Lowering::View)
          layouts.add(&op);
        if (auto fusion = dyn_cast<ir::FusionOp>(op))
          fusion->setAttr("kernel", kernelFor(lowerFusion(fusion, layouts, 0).spec.toText(), kernels, symbols));
      }
    }
  }

  FlatSymbolRefAttr kernelFor(StringRef text, llvm::StringMap<FlatSymbolRefAttr> &kernels, SymbolTable &symbols) {
    FlatSymbolRefAttr &kernel = kernels[text];
    if (!kernel) {
      OpBuilder builder(&getContext());
      kernel = FlatSymbolRefAttr::get(&getContext(), "kernel" + std::to_string(kernels.size() - 1));
      symbols.insert(ir::KernelOp::create(builder, builder.getUnknownLoc(), kernel.getValue(), text));
    }
    return kernel;
  }
};

struct EmitKernels : impl::EmitKernelsPassBase<EmitKernels> {
  using EmitKernelsPassBase::EmitKernelsPassBase;

  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<ir::KernelOp>()))
      if (failed(emit(kernel)))
        return signalPassFailure();
  }

  LogicalResult emit(ir::KernelOp kernel) {
    llvm::Expected<KernelSpec> spec = KernelSpec::parse(kernel.getText());
    llvm::Error error = spec ? verifyKernel(*spec) : spec.takeError();
    if (error)
      return kernel.emitError(takeError(std::move(error)).second);
    std::string name = kernel.getName().str();
    kernel.erase();
    emitKernel(getOperation(), name, *spec, {narrowMasks});
    return success();
  }
};

} // namespace
} // namespace tess::compiler
