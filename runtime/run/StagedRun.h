//===- StagedRun.h - runs a program stage by stage --------------*- C++ -*-===//
#pragma once

#include "runtime/run/RunOptions.h"

namespace tess::runtime {

/// As run(), which `runProgram` is, for a binding in stages: a stage is bound when the ones before it have run. What
/// stages hand on is allocated, and so are outputs without a bound, by RunOptions::allocate.
llvm::Error runStages(Commands &whole, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs,
                      llvm::ArrayRef<uint64_t> scalars, const RunOptions &options, RunProgram runProgram);

} // namespace tess::runtime
