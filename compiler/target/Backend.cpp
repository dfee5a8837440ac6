//===- Backend.cpp - a module of kernels to a target's code ---------------===//
#include "compiler/target/Backend.h"

#include "compiler/target/KernelDialect.h"
#include "compiler/target/LlvmOptions.h"
#include "ops/vocabulary/Error.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/MC/TargetRegistry.h"

#include <utility>

namespace tess::compiler {

llvm::Expected<const llvm::Target *> findTarget(llvm::StringRef tool, const llvm::Triple &triple) {
  if (llvm::Error error = setLlvmOptions())
    return std::move(error);
  std::string reason;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, reason);
  if (!found)
    return makeError(ErrorCode::Internal,
                     tool + ": LLVM must have a code generator for " + triple.getArchName() + ", got " + reason);
  return found;
}

llvm::TargetOptions strictOptions() {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return options;
}

Backend::Backend(llvm::StringRef tool, std::unique_ptr<llvm::TargetMachine> machine)
    : tool(tool), machine(std::move(machine)) {
  loadKernelDialect(mlirContext);
  mlirContext.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    messages += (messages.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
}

llvm::Error Backend::fail(const llvm::Twine &step) {
  std::string text = std::exchange(messages, "");
  return makeError(ErrorCode::Internal,
                   tool + ": " + step + " must succeed, got " + (text.empty() ? "no reason" : text));
}

llvm::Expected<std::unique_ptr<llvm::Module>> Backend::translate(mlir::ModuleOp module,
                                                                 llvm::LLVMContext &llvmContext) {
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(module, llvmContext);
  if (!result)
    return fail("translation to LLVM IR");
  result->setDataLayout(machine->createDataLayout());
  result->setTargetTriple(machine->getTargetTriple());
  return result;
}

void Backend::listenTo(llvm::LLVMContext &llvmContext) {
  llvmContext.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *self) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        llvm::raw_string_ostream stream(static_cast<Backend *>(self)->messages);
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      this);
}

llvm::Error Backend::addPasses(llvm::legacy::PassManager &passes, llvm::raw_pwrite_stream &stream,
                               llvm::CodeGenFileType type) {
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return fail("code generation");
  return llvm::Error::success();
}

llvm::Error Backend::run(llvm::legacy::PassManager &passes, llvm::Module &module) {
  passes.run(module);
  return messages.empty() ? llvm::Error::success() : fail("code generation");
}

std::string textOf(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

} // namespace tess::compiler
