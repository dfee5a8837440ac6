//===- ExecutableCache.h - whole executables, compiled before ---*- C++ -*-===//
//
// What eager asks before it compiles a mini-graph: the warm set that came with
// the package, then the disk cache. Thread-safe.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/WarmSet.h"

namespace tess::compiler {

struct ExecutableCacheStats {
  uint64_t fromWarmSet = 0, fromDisk = 0;
};

/// The executable for this machine that was stored by `key`, text that says what it computes. What this build did not
/// write, or another machine would, is not found.
std::optional<runtime::Executable> findExecutable(llvm::StringRef key);
/// Keeps it on disk, when there is a disk cache.
void storeExecutable(llvm::StringRef key, const runtime::Executable &executable);
ExecutableCacheStats executableCacheStats();

/// Opens `folder`/LEVEL.tess of the highest level that this machine has; "" closes. TESS_WARM_SET names the folder of a
/// process that does not call this. One that cannot be used is ignored,
/// and the note says why.
void openWarmSet(llvm::StringRef folder);
/// For people: what is open, or why nothing is.
std::string warmSetNote();
/// The classes of the open warm set, sorted.
std::vector<std::string> warmSetKeys();

} // namespace tess::compiler
