//===- CacheState.h - the process's disk cache ------------------*- C++ -*-===//
#pragma once

#include "compiler/ObjectCache.h"
#include "runtime/schema/Executable.h"

namespace tess::compiler {

/// The one disk cache; off until it is configured.
ObjectCache &objectCache();

/// The executable in its entry `key`; one that cannot be read is a miss.
std::optional<runtime::Executable> loadExecutable(llvm::StringRef key);
/// Writes that entry, when there is a disk cache.
void keepExecutable(llvm::StringRef key, const runtime::Executable &executable);

} // namespace tess::compiler
