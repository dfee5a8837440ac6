//===- Codegen.h - kernels to code images -----------------------*- C++ -*-===//
//
// One CodeGenerator per compile thread: it owns an MLIR context and a target
// machine and turns kernel specs into images. No MLIR or LLVM type in this
// header but Expected.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernel/KernelSpec.h"
#include "compiler/target/TargetSpec.h"
#include "runtime/schema/Image.h"

#include <memory>
#include <utility>

namespace tess::compiler {

/// Kernel specs to machine code for one target.
class CodeGenerator {
public:
  /// The name of the entry, and what it computes.
  using NamedKernel = std::pair<std::string, KernelSpec>;

  /// Makes a generator, which takes about 2 ms: keep it. Fails when LLVM has no code generator for the target.
  static llvm::Expected<std::unique_ptr<CodeGenerator>> create(const TargetSpec &target);
  ~CodeGenerator();

  /// One image with one entry per kernel, in order; names must be distinct. Fails on a spec that does not verify, on
  /// what LLVM reports, and on a symbol outside the image, named in the text. Not thread-safe.
  llvm::Expected<runtime::Image> compile(llvm::ArrayRef<NamedKernel> kernels);
  /// The LLVM IR that the code of `spec` is made from.
  llvm::Expected<std::string> dumpLlvm(const KernelSpec &spec);
  /// Assembler text, Intel syntax.
  llvm::Expected<std::string> dumpAssembly(const KernelSpec &spec);
  const TargetSpec &target() const;
  /// Whether MLIR's verifier runs on each module of kernels before it becomes LLVM IR; initially verifiesByDefault().
  void setVerify(bool verify);
  /// Modules that the verifier has seen.
  uint64_t numVerified() const;

private:
  struct Impl;
  explicit CodeGenerator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace tess::compiler
