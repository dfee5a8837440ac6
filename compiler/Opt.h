//===- Opt.h - tess-opt as a function ---------------------------*- C++ -*-===//
#pragma once

#include "compiler/CompileOptions.h"

namespace tess::compiler {

/// Runs tess-opt with the arguments of a main function: passes over a file of MLIR's text, as MLIR's own mlir-opt does.
/// `options` are those of the pass that folds constants. Returns the exit status; ends the process after `--help` and
/// where an option is unknown, as LLVM's command lines do.
int runOpt(int argc, char **argv, const CompileOptions &options);

} // namespace tess::compiler
