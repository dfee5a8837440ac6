//===- AccessChecks.h - kernels under a sanitizer ---------------*- C++ -*-===//
//
// Generated code is invisible to the sanitizer that the rest was built with.
// In such a build the target "host-checked" adds a call before every access.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace llvm {
class Module;
}

namespace tess::compiler {

/// Adds a call to the sanitizer before every load and store, for masked ones by the lanes that they touch. The code
/// then holds addresses of this process and must not run in another. Does nothing in a build without a sanitizer.
void addAccessChecks(llvm::Module &module);

} // namespace tess::compiler
