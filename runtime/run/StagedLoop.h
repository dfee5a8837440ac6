//===- StagedLoop.h - a loop whose body is a program ------------*- C++ -*-===//
#pragma once

#include "runtime/bind/Stages.h"
#include "runtime/run/RunOptions.h"

namespace tess::runtime {

/// A loop in whose trips data decides sizes, in one run.
struct StagedLoop {
  const Stage &stage;
  Bound &body;
  llvm::ArrayRef<TensorMeta> inputs; // of the loop
  llvm::ArrayRef<void *> from;       // memory of the inputs
  llvm::ArrayRef<uint64_t> scalars;
  /// Memory for a result; `meta` is its own.
  llvm::function_ref<llvm::Expected<void *>(size_t result, const TensorMeta &meta)> place;
};

/// Makes the trips by `runProgram`, and waits. `pointers`: gets the memory of the results. RunOptions are those of the
/// stage: what grew is handed over as they say. The metas of the results.
llvm::Expected<std::vector<TensorMeta>> runLoop(const StagedLoop &loop, llvm::MutableArrayRef<void *> pointers,
                                                const RunOptions &options, RunProgram runProgram);

} // namespace tess::runtime
