//===- LlvmOptions.h - LLVM's switches for the whole process ----*- C++ -*-===//
#pragma once

#include "llvm/Support/Error.h"

namespace tess::compiler {

/// Switches off two passes of LLVM's code generator for every target of this process. Must be called before the first
/// target machine is made.
llvm::Error setLlvmOptions();

} // namespace tess::compiler
