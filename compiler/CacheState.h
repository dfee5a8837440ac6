//===- CacheState.h - the process's disk cache ------------------*- C++ -*-===//
#pragma once

#include "compiler/ObjectCache.h"

namespace tess::compiler {

/// The one disk cache; off until it is configured.
ObjectCache &objectCache();

} // namespace tess::compiler
