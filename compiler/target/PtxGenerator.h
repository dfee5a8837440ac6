//===- PtxGenerator.h - kernels to PTX --------------------------*- C++ -*-===//
//
// The GPU's counterpart of Codegen.h: kernel specs to PTX text, with
// the expansions and rounding rules of the CPU's kernels. GpuParameter in
// runtime/schema/KernelAbi.h says how a kernel is called. No MLIR or LLVM type in
// this header but Expected.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernel/KernelSpec.h"
#include "runtime/schema/Image.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <utility>

namespace tess::compiler {

/// Kernel specs to PTX for one GPU architecture.
class PtxGenerator {
public:
  /// The name of the entry, and what it computes.
  using NamedKernel = std::pair<std::string, KernelSpec>;

  /// A generator for an architecture ("sm_90"); each thread that compiles needs one of its own. InvalidArgument when
  /// LLVM does not know the architecture.
  static llvm::Expected<std::unique_ptr<PtxGenerator>> create(llvm::StringRef architecture);
  ~PtxGenerator();

  /// One PTX module with one entry per kernel; names must be distinct and of letters, digits and '_'. InvalidArgument
  /// on a spec that does not verify. Not thread-safe.
  llvm::Expected<std::string> compile(llvm::ArrayRef<NamedKernel> kernels);
  /// The same as an image, for a device to load.
  llvm::Expected<runtime::Image> compileImage(llvm::ArrayRef<NamedKernel> kernels);
  /// The LLVM IR that the PTX of `spec` is made from.
  llvm::Expected<std::string> dumpLlvm(const KernelSpec &spec);

private:
  struct Impl;
  explicit PtxGenerator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace tess::compiler
