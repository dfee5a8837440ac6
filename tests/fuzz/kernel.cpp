//===- kernel.cpp - any text as a generated kernel ------------------------===//
#include "compiler/emit/KernelEmitter.h"
#include "compiler/kernel/KernelAnalysis.h"
#include "tests/fuzz/Fuzz.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"

using namespace tess;
using namespace tess::compiler;

/// A kernel that the verifier takes must be one that the emitter writes.
static void requireCode(const KernelSpec &spec) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  llvm::cantFail(emitKernel(*module, "kernel", spec, {}));
  fuzz::require(mlir::succeeded(mlir::verify(*module)), "a kernel that is verified must have code, got none");
}

void fuzzOne(llvm::StringRef input) {
  auto spec = KernelSpec::parse(input);
  if (!fuzz::passed(spec))
    return;
  fuzz::requireRoundTrip(*spec, [](const KernelSpec &kernel) { return kernel.toText(); }, KernelSpec::parse);
  constexpr size_t kMostNodes = 100; // a node becomes hundreds of instructions
  if (fuzz::passed(verifyKernel(*spec)) && spec->nodes.size() <= kMostNodes)
    requireCode(*spec);
}
