//===- CodeVersion.cpp - what compiled code depends on --------------------===//
#include "compiler/cache/CodeVersion.h"

#include "compiler/cache/CodeVersion.inc"
#include "llvm/Config/llvm-config.h"

namespace tess::compiler {

llvm::StringRef codeVersion() { return TESS_SOURCES_HASH "-llvm-" LLVM_VERSION_STRING; }

} // namespace tess::compiler
