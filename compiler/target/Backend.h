//===- Backend.h - a module of kernels to a target's code -------*- C++ -*-===//
//
// What the generators for the CPU and for GPUs share: a machine of LLVM, a context
// for the module, and what either has to say.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace tess::compiler {

/// LLVM's target of this triple, with our options set; Internal when it was not built in. `tool` opens the message.
llvm::Expected<const llvm::Target *> findTarget(llvm::StringRef tool, const llvm::Triple &triple);
/// The options of a machine that rounds each operation by itself: the only fma is one that the expansion wrote.
llvm::TargetOptions strictOptions();

/// The way from a module of kernels to code for one machine. For one thread at a time.
class Backend {
public:
  /// `tool` opens the messages of errors.
  Backend(llvm::StringRef tool, std::unique_ptr<llvm::TargetMachine> machine);
  Backend(const Backend &) = delete;
  Backend &operator=(const Backend &) = delete;

  /// The context of modules, with the dialects of kernels loaded.
  mlir::MLIRContext &context() { return mlirContext; }
  /// Forgets what MLIR and LLVM have said.
  void clearMessages() { messages.clear(); }
  /// "<tool>: <step> must succeed, got <what MLIR and LLVM have said since the last error>".
  llvm::Error fail(const llvm::Twine &step);

  /// The module as LLVM IR for the machine.
  llvm::Expected<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module, llvm::LLVMContext &llvmContext);
  /// Has errors that LLVM finds in modules of `llvmContext` fail run(). `this` must outlive it.
  void listenTo(llvm::LLVMContext &llvmContext);
  /// Adds the passes that write a module's code to `stream`.
  llvm::Error addPasses(llvm::legacy::PassManager &passes, llvm::raw_pwrite_stream &stream, llvm::CodeGenFileType type);
  /// Runs them.
  llvm::Error run(llvm::legacy::PassManager &passes, llvm::Module &module);

private:
  std::string tool, messages;
  std::unique_ptr<llvm::TargetMachine> machine;
  mlir::MLIRContext mlirContext{mlir::MLIRContext::Threading::DISABLED};
};

/// LLVM's text of a module.
std::string textOf(const llvm::Module &module);

} // namespace tess::compiler
