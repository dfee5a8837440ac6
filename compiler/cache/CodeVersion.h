//===- CodeVersion.h - what compiled code depends on ------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tess::compiler {

/// A hash of the sources of operators, IR, compiler and executables, and LLVM's version: builds that agree in it make
/// the same code of the same program.
llvm::StringRef codeVersion();

} // namespace tess::compiler
