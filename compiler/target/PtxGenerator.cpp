//===- PtxGenerator.cpp - kernels to PTX ----------------------------------===//
//
// Strict fusion makes LLVM write add.rn, mul.rn and so on, which ptxas may not
// contract; without fast-math flags it writes div.rn and sqrt.rn, and without
// .ftz subnormals stay. So each operation rounds as on the CPU.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/PtxGenerator.h"

#include "compiler/emit/KernelEmitter.h"
#include "compiler/kernel/KernelAnalysis.h"
#include "compiler/target/Backend.h"
#include "compiler/target/PtxKernel.h"
#include "ops/vocabulary/Error.h"
#include "runtime/schema/ImageHash.h"

#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

namespace tess::compiler {

using runtime::GpuParameter;

struct PtxGenerator::Impl {
  Backend backend;

  explicit Impl(std::unique_ptr<llvm::TargetMachine> machine) : backend("ptx", std::move(machine)) {}
  llvm::Expected<std::unique_ptr<llvm::Module>> translate(llvm::ArrayRef<NamedKernel> kernels,
                                                          llvm::LLVMContext &llvmContext);
};

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeMachine(llvm::StringRef architecture) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  auto found = findTarget("ptx", triple);
  if (!found)
    return found.takeError();
  std::unique_ptr<llvm::MCSubtargetInfo> probe((*found)->createMCSubtargetInfo(triple, "", ""));
  if (!architecture.starts_with("sm_") || !probe || !probe->isCPUStringValid(architecture))
    return invalidArgument("ptx: the architecture must be one that LLVM knows, got " + architecture);
  return std::unique_ptr<llvm::TargetMachine>((*found)->createTargetMachine(
      triple, architecture, "", strictOptions(), std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
}

PtxGenerator::PtxGenerator(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
PtxGenerator::~PtxGenerator() = default;

llvm::Expected<std::unique_ptr<PtxGenerator>> PtxGenerator::create(llvm::StringRef architecture) {
  auto machine = makeMachine(architecture);
  if (!machine)
    return machine.takeError();
  return std::unique_ptr<PtxGenerator>(new PtxGenerator(std::make_unique<Impl>(std::move(*machine))));
}

static llvm::Error checkKernel(const std::string &name, const KernelSpec &spec) {
  if (name.empty() || llvm::isDigit(name[0]) ||
      !llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return invalidArgument("ptx: a kernel's name must be of letters, digits and '_', got '" + name + "'");
  return verifyKernel(spec);
}

llvm::Expected<std::unique_ptr<llvm::Module>> PtxGenerator::Impl::translate(llvm::ArrayRef<NamedKernel> kernels,
                                                                            llvm::LLVMContext &llvmContext) {
  backend.clearMessages();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&backend.context()));
  for (const auto &[name, spec] : kernels) {
    if (llvm::Error error = checkKernel(name, spec))
      return error;
    if (module->lookupSymbol(name))
      return invalidArgument("ptx: kernels of a module must have distinct names, got " + name + " twice");
    emitPtxKernel(*module, name, spec);
  }
  auto result = backend.translate(*module, llvmContext);
  if (!result)
    return result.takeError();
  for (const auto &kernel : kernels)
    for (GpuParameter array : {GpuParameter::Pointers, GpuParameter::Dims})
      // So that it is read in parameter space, without a copy on each thread's stack.
      (*result)
          ->getFunction(kernel.first)
          ->addParamAttr(unsigned(array), llvm::Attribute::get(llvmContext, "nvvm.grid_constant"));
  return result;
}

llvm::Expected<std::string> PtxGenerator::compile(llvm::ArrayRef<NamedKernel> kernels) {
  llvm::LLVMContext llvmContext;
  auto module = impl->translate(kernels, llvmContext);
  if (!module)
    return module.takeError();
  impl->backend.listenTo(llvmContext);
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (llvm::Error error = impl->backend.addPasses(passes, stream, llvm::CodeGenFileType::AssemblyFile))
    return std::move(error);
  if (llvm::Error error = impl->backend.run(passes, **module))
    return std::move(error);
  return std::string(text.begin(), text.end());
}

llvm::Expected<runtime::Image> PtxGenerator::compileImage(llvm::ArrayRef<NamedKernel> kernels) {
  runtime::Image image;
  if (llvm::Error error = compile(kernels).moveInto(image.bytes))
    return std::move(error);
  image.kind = runtime::ImageKind::Ptx;
  image.hash = runtime::imageHash(image.bytes);
  for (const auto &[name, spec] : kernels)
    image.entries.push_back({name, 0, 0, picosecondsPerElement(spec), 0, gridEntryOf(spec)});
  return image;
}

llvm::Expected<std::string> PtxGenerator::dumpLlvm(const KernelSpec &spec) {
  llvm::LLVMContext llvmContext;
  auto module = impl->translate({{"kernel", spec}}, llvmContext);
  if (!module)
    return module.takeError();
  return textOf(**module);
}

} // namespace tess::compiler
