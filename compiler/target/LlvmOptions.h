//===- LlvmOptions.h - LLVM's switches for the whole process ----*- C++ -*-===//
#pragma once

#include "llvm/Support/Error.h"

namespace tess::compiler {

/// Leaves out two passes of LLVM's code generator, for every target of this process; before the first machine is made.
llvm::Error setLlvmOptions();

} // namespace tess::compiler
