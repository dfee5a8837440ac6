//===- Compile.cpp - the one entry of the compiler ------------------------===//
#include "compiler/Compile.h"
#include "compiler/CacheState.h"
#include "compiler/KernelCache.h"
#include "compiler/Pipeline.h"
#include "compiler/lowering/ProgramLowering.h"
#include "ir/GraphImpl.h"
#include "ops/Error.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"

#include <atomic>
#include <chrono>

namespace tess::compiler {
namespace {

std::atomic<uint64_t> numPrograms{0}, nanoseconds{0};

/// Adds the life of this object to the compile seconds.
struct Timer {
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  ~Timer() { nanoseconds += uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count()); }
};

/// Keeps the first diagnostic, with its location: "train.py:12: matmul: ...".
class FirstDiagnostic {
public:
  explicit FirstDiagnostic(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (message.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            keep(diagnostic);
          return mlir::success();
        }) {}

  llvm::Error take() {
    return makeError(ErrorCode::InvalidArgument, message.empty() ? "compile: pass must succeed, got failure" : message);
  }

private:
  void keep(mlir::Diagnostic &diagnostic) {
    std::string location = ir::locationText(diagnostic.getLocation());
    message = diagnostic.str() + (location.empty() ? "" : " (at " + location + ")");
  }

  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

llvm::Expected<LoweredProgram> lower(const ir::Graph &graph, const CompileOptions &options) {
  ir::GraphImpl &impl = graph.impl();
  std::lock_guard<std::mutex> lock(impl.mutex); // the context is not made for two threads
  FirstDiagnostic diagnostic(impl.context.get());
  mlir::OwningOpRef<mlir::ModuleOp> module(impl.module.get().clone());
  mlir::PassManager manager(impl.context.get());
  manager.enableVerifier(false);
  buildPipeline(manager, options);
  if (!options.dumpAfter.empty())
    manager.enableIRPrinting(
        [](mlir::Pass *, mlir::Operation *) { return false; },
        [&](mlir::Pass *pass, mlir::Operation *) { return pass->getArgument().contains(options.dumpAfter); });
  if (failed(manager.run(*module)))
    return diagnostic.take();
  auto lowered = lowerProgram(llvm::cast<mlir::func::FuncOp>(module->lookupSymbol("main")));
  if (failed(lowered))
    return diagnostic.take();
  return std::move(*lowered);
}

} // namespace

llvm::Expected<runtime::Executable> compile(const ir::Graph &graph, const CompileOptions &options) {
  Timer timer;
  ++numPrograms;
  llvm::Expected<LoweredProgram> program = lower(graph, options);
  if (!program)
    return program.takeError();
  auto images = imagesFor(program->kernels, options.target);
  if (!images)
    return images.takeError();
  program->executable.images = std::move(*images);
  program->executable.target = "cpu:" + options.target;
  return std::move(program->executable);
}

CompileStats compileStats() {
  KernelCacheStats kernels = kernelCacheStats();
  return {numPrograms.load(), kernels.compiled, kernels.fromMemory, kernels.fromDisk,
          double(nanoseconds.load()) * 1e-9};
}

void setObjectCache(llvm::StringRef folder, uint64_t maxBytes) { objectCache().configure(folder, maxBytes); }

} // namespace tess::compiler
