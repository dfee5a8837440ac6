//===- PtxGenerator.cpp - kernels to PTX ----------------------------------===//
//
// Strict fusion makes LLVM write add.rn, mul.rn and so on, which ptxas may not
// contract; without fast-math flags it writes div.rn and sqrt.rn, and without
// .ftz subnormals stay. So each operation rounds as on the CPU.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/PtxGenerator.h"

#include "compiler/lowering/KernelAnalysis.h"
#include "compiler/target/KernelDialect.h"
#include "compiler/target/LlvmOptions.h"
#include "compiler/target/PtxKernel.h"
#include "ops/Error.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

namespace tess::compiler {

struct PtxGenerator::Impl {
  std::unique_ptr<llvm::TargetMachine> machine;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string messages; // from MLIR and LLVM, since they were last taken

  llvm::Error fail(const llvm::Twine &step) {
    std::string text = std::exchange(messages, "");
    return makeError(ErrorCode::Internal, "ptx: " + step + " must succeed, got " + (text.empty() ? "no reason" : text));
  }
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
  if (llvm::Error error = setLlvmOptions())
    return std::move(error);
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string reason;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, reason);
  if (!found)
    return makeError(ErrorCode::Internal, "ptx: LLVM must have a code generator for it, got " + reason);
  std::unique_ptr<llvm::MCSubtargetInfo> probe(found->createMCSubtargetInfo(triple, "", ""));
  if (!architecture.starts_with("sm_") || !probe || !probe->isCPUStringValid(architecture))
    return invalidArgument("ptx: the architecture must be one that LLVM knows, got " + architecture);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // the only fma is one that the expansion wrote
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      triple, architecture, "", options, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
}

PtxGenerator::PtxGenerator(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
PtxGenerator::~PtxGenerator() = default;

llvm::Expected<std::unique_ptr<PtxGenerator>> PtxGenerator::create(llvm::StringRef architecture) {
  auto machine = makeMachine(architecture);
  if (!machine)
    return machine.takeError();
  auto impl = std::make_unique<Impl>();
  impl->machine = std::move(*machine);
  loadKernelDialect(impl->context);
  impl->context.getDiagEngine().registerHandler([impl = impl.get()](mlir::Diagnostic &diagnostic) {
    impl->messages += (impl->messages.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  return std::unique_ptr<PtxGenerator>(new PtxGenerator(std::move(impl)));
}

static llvm::Error checkKernel(const std::string &name, const KernelSpec &spec) {
  if (name.empty() || llvm::isDigit(name[0]) ||
      !llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return invalidArgument("ptx: a kernel's name must be of letters, digits and '_', got '" + name + "'");
  if (spec.numReduced)
    return makeError(ErrorCode::Unimplemented,
                     "ptx: a kernel must have no reduced group, got " + llvm::Twine(spec.numReduced) + " in " + name);
  return verifyKernel(spec);
}

llvm::Expected<std::unique_ptr<llvm::Module>> PtxGenerator::Impl::translate(llvm::ArrayRef<NamedKernel> kernels,
                                                                            llvm::LLVMContext &llvmContext) {
  messages.clear();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  for (const auto &[name, spec] : kernels) {
    if (llvm::Error error = checkKernel(name, spec))
      return error;
    if (module->lookupSymbol(name))
      return invalidArgument("ptx: kernels of a module must have distinct names, got " + name + " twice");
    emitPtxKernel(*module, name, spec);
  }
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(*module, llvmContext);
  if (!result)
    return fail("translation to LLVM IR");
  result->setDataLayout(machine->createDataLayout());
  result->setTargetTriple(machine->getTargetTriple());
  for (const auto &kernel : kernels)
    for (unsigned array : {0, 1}) // so that it is read in parameter space, without a copy on each thread's stack
      result->getFunction(kernel.first)->addParamAttr(array, llvm::Attribute::get(llvmContext, "nvvm.grid_constant"));
  return result;
}

llvm::Expected<std::string> PtxGenerator::compile(llvm::ArrayRef<NamedKernel> kernels) {
  llvm::LLVMContext llvmContext;
  auto module = impl->translate(kernels, llvmContext);
  if (!module)
    return module.takeError();
  llvmContext.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *self) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        llvm::raw_string_ostream stream(static_cast<Impl *>(self)->messages);
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      impl.get());
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (impl->machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return impl->fail("code generation");
  passes.run(**module);
  if (!impl->messages.empty())
    return impl->fail("code generation");
  return std::string(text.begin(), text.end());
}

llvm::Expected<std::string> PtxGenerator::dumpLlvm(const KernelSpec &spec) {
  llvm::LLVMContext llvmContext;
  auto module = impl->translate({{"kernel", spec}}, llvmContext);
  if (!module)
    return module.takeError();
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream, nullptr);
  return text;
}

} // namespace tess::compiler
