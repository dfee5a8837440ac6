//===- CodeVersion.cpp - what compiled code depends on --------------------===//
#include "compiler/CodeVersion.h"

#include "compiler/CodeVersion.inc"
#include "llvm/Config/llvm-config.h"

namespace tess::compiler {

llvm::StringRef codeVersion() { return TESS_SOURCES_HASH "-llvm-" LLVM_VERSION_STRING; }

} // namespace tess::compiler
