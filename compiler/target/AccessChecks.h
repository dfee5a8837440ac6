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

/// Tells the sanitizer of every load and store before it happens, masked ones by the lanes that they touch. The code
/// holds addresses of this process and is good in no other. Nothing is added in a plain build.
void addAccessChecks(llvm::Module &module);

} // namespace tess::compiler
