//===- ExecutableCache.h - whole executables, compiled before ---*- C++ -*-===//
//
// What eager asks before it compiles a mini-graph: the warm set that came with
// the package, then the disk cache. Thread-safe.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/cache/WarmSet.h"

namespace tess::compiler {

/// Executables found since the process began, by the place that had them.
struct ExecutableCacheStats {
  uint64_t fromWarmSet = 0, fromDisk = 0;
};

/// The executable stored under `key`, a text that determines what it computes. Only one that this build wrote for
/// `target` and the features of this machine is found, and none of a target whose code stays in its process.
std::optional<runtime::Executable> findExecutable(llvm::StringRef target, llvm::StringRef key);
/// Keeps `executable` on disk; does nothing when there is no disk cache.
void storeExecutable(llvm::StringRef target, llvm::StringRef key, const runtime::Executable &executable);
/// The counters of this process.
ExecutableCacheStats executableCacheStats();

/// Opens `folder`/LEVEL.tess of the highest level that this machine has; "" closes the open one. A warm set that cannot
/// be used is ignored, and warmSetNote() says why. At the first use TESS_WARM_SET names the folder.
void openWarmSet(llvm::StringRef folder);
/// For people: what is open, or why nothing is.
std::string warmSetNote();
/// The classes of the open warm set, sorted.
std::vector<std::string> warmSetKeys();

} // namespace tess::compiler
