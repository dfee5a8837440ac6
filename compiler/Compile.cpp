//===- Compile.cpp - the one entry of the compiler ------------------------===//
#include "compiler/Compile.h"
#include "compiler/CompileModule.h"
#include "compiler/FirstDiagnostic.h"
#include "compiler/PassClock.h"
#include "compiler/Pipeline.h"
#include "compiler/Reservation.h"
#include "compiler/cache/CacheState.h"
#include "compiler/cache/KernelCache.h"
#include "compiler/lowering/ProgramLowering.h"
#include "compiler/target/TargetSpec.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ops/vocabulary/Error.h"
#include "runtime/schema/BitsVersion.h"

#include "mlir/Pass/Pass.h"

#include <atomic>
#include <chrono>

namespace tess::compiler {
namespace {

std::atomic<uint64_t> numPrograms{0}, nanoseconds{0};

/// Adds the lifetime of this object to the compile seconds.
struct Timer {
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  ~Timer() { nanoseconds += uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count()); }
};

llvm::Expected<LoweredProgram> lower(mlir::ModuleOp module, const CompileOptions &options, const TargetSpec &target) {
  mlir::MLIRContext *context = module.getContext();
  FirstDiagnostic diagnostic(context, "compile", options.remark);
  mlir::PassManager manager(context);
  manager.enableVerifier(options.verify);
  auto main = llvm::cast<mlir::func::FuncOp>(module.lookupSymbol("main"));
  buildPipeline(manager, options, ir::numericsOf(main), moduleEvaluator(options));
  manager.addInstrumentation(std::make_unique<PassClock>(options.timed));
  if (!options.dumpAfter.empty())
    manager.enableIRPrinting(
        [](mlir::Pass *, mlir::Operation *) { return false; },
        [&](mlir::Pass *pass, mlir::Operation *) { return pass->getArgument().contains(options.dumpAfter); });
  if (failed(manager.run(module)))
    return diagnostic.take();
  TimedPart part("steps", options.timed);
  LoweringTarget lowering{options.target, target.isGrid() ? LaterPasses::Recompute : LaterPasses::Keep};
  auto lowered = lowerProgram(main, options.kernels.get(), lowering);
  if (failed(lowered))
    return diagnostic.take();
  return std::move(*lowered);
}

} // namespace

llvm::Expected<runtime::Executable> compileModule(mlir::ModuleOp module, const CompileOptions &options) {
  llvm::Expected<TargetSpec> target = TargetSpec::parse(options.target);
  if (!target)
    return target.takeError();
  size_t operators = 0;
  module.walk([&](mlir::Operation *) { ++operators; });
  if (llvm::Error e = reserveForCompilation(operators))
    return std::move(e);
  llvm::Expected<LoweredProgram> program = lower(module, options, *target);
  if (!program)
    return program.takeError();
  auto images = [&] {
    TimedPart part("code", options.timed);
    return imagesFor(program->kernels, options.target, options.verify);
  }();
  if (!images)
    return images.takeError();
  program->executable.images = std::move(*images);
  program->executable.target = target->describe();
  program->executable.bitsVersion = runtime::bitsVersion();
  program->executable.numThreads = options.kernels ? options.kernels->threads() : 0;
  program->executable.withoutWinograd = options.kernels && options.kernels->withoutWinograd();
  return std::move(program->executable);
}

ModuleEvaluator moduleEvaluator(const CompileOptions &options) {
  if (!options.evaluate)
    return {};
  CompileOptions here = options;
  here.target = "host";
  here.evaluate = nullptr;
  here.boundary = nullptr;
  here.schedule = nullptr;
  here.timed = nullptr;
  return [here, evaluate = options.evaluate](mlir::ModuleOp module) -> mlir::FailureOr<std::vector<std::string>> {
    auto bytes = [&]() -> llvm::Expected<std::vector<std::string>> {
      llvm::Expected<runtime::Executable> executable = compileModule(module, here);
      return executable ? evaluate(std::move(*executable)) : executable.takeError();
    }();
    if (bytes)
      return std::move(*bytes);
    llvm::consumeError(bytes.takeError());
    return mlir::failure();
  };
}

llvm::Expected<runtime::Executable> compile(const ir::Graph &graph, const CompileOptions &options) {
  Timer timer;
  ++numPrograms;
  ir::GraphImpl &impl = graph.impl();
  std::lock_guard<std::mutex> lock(impl.mutex); // one thread at a time may use the context
  mlir::OwningOpRef<mlir::ModuleOp> module(impl.module.get().clone());
  return compileModule(*module, options);
}

CompileStats compileStats() {
  KernelCacheStats kernels = kernelCacheStats();
  return {numPrograms.load(), kernels.compiled, kernels.fromMemory, kernels.fromDisk, double(nanoseconds.load()) * 1e-9,
          runningPart.load()};
}

std::pair<std::string, uint64_t> objectCacheSettings() { return objectCache().settings(); }

void setObjectCache(llvm::StringRef folder, uint64_t maxBytes) { objectCache().configure(folder, maxBytes); }

llvm::Error awaitObjectCache() {
  objectCache().awaitWritten();
  std::string failure = objectCache().failure();
  return failure.empty() ? llvm::Error::success() : makeError(ErrorCode::IoError, failure);
}

llvm::Error setHostLevel(llvm::StringRef level) { return TargetSpec::setHost(level); }

} // namespace tess::compiler
