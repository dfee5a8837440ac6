//===- KernelPasses.cpp - the kernels of a program, for readers -----------===//
#include "compiler/lowering/KernelPasses.h"
#include "compiler/emit/KernelEmitter.h"
#include "compiler/lowering/StepKernels.h"
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
    llvm::StringMap<FlatSymbolRefAttr> named; // by text
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      StepKernels kernels(func);
      auto references = llvm::map_to_vector(kernels.units(),
                                            [&](const KernelUnit &unit) { return referenceTo(unit, named, symbols); });
      func.walk([&](Operation *op) {
        if (const StepKernel *kernel = kernels.find(op))
          op->setAttr(ir::kKernelAttr, references[kernel->unit]);
      });
    }
  }

  /// The symbol of a kernel; a list of them for several that are launched together.
  Attribute referenceTo(const KernelUnit &unit, llvm::StringMap<FlatSymbolRefAttr> &named, SymbolTable &symbols) {
    auto all = llvm::map_to_vector(
        unit, [&](const KernelSpec &spec) -> Attribute { return kernelFor(spec.toText(), named, symbols); });
    return all.size() == 1 ? all.front() : ArrayAttr::get(&getContext(), all);
  }

  FlatSymbolRefAttr kernelFor(StringRef text, llvm::StringMap<FlatSymbolRefAttr> &named, SymbolTable &symbols) {
    FlatSymbolRefAttr &kernel = named[text];
    if (!kernel) {
      OpBuilder builder(&getContext());
      kernel = FlatSymbolRefAttr::get(&getContext(), "kernel" + std::to_string(named.size() - 1));
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
    if (!spec)
      return kernel.emitError(takeError(spec.takeError()).second);
    std::string name = kernel.getName().str();
    Location loc = kernel.getLoc();
    kernel.erase();
    llvm::Expected<KernelPlan> plan = emitKernel(getOperation(), name, *spec, {narrowMasks});
    return plan ? success() : LogicalResult(emitError(loc, takeError(plan.takeError()).second));
  }
};

} // namespace
} // namespace tess::compiler
