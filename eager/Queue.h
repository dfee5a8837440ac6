//===- Queue.h - work that runs beside the caller ---------------*- C++ -*-===//
#pragma once

#include "eager/Storage.h"

namespace tess::eager {

/// Waits until the storage has its value; the error of the operator that was to write it.
llvm::Error awaitValue(Storage &storage);
/// Waits for all queued work and reports the first failure that nobody has seen.
llvm::Error sync();

/// 0: every operator ends before its call returns. 1, 2: operators that are not tiny run on the worker.
llvm::Error setAsyncLevel(int level);
int asyncLevel();

} // namespace tess::eager
