//===- CacheState.h - the process's disk cache ------------------*- C++ -*-===//
#pragma once

#include "compiler/cache/ObjectCache.h"
#include "runtime/schema/Executable.h"

namespace tess::compiler {

/// The one disk cache; off until it is configured.
ObjectCache &objectCache();

/// The executable of the disk cache under `key`; none when there is no cache, no entry, or a damaged one.
std::optional<runtime::Executable> loadExecutable(llvm::StringRef key);
/// Writes that entry; does nothing when there is no disk cache.
void keepExecutable(llvm::StringRef key, const runtime::Executable &executable);

} // namespace tess::compiler
