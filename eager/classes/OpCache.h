//===- OpCache.h - compiled operators by class ------------------*- C++ -*-===//
//
// One per process, sharded, bounded in bytes, the least recently used first out,
// safe for any number of threads; a class that is being compiled is compiled
// once. Threads ask their own OpFront first.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/classes/OpFront.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tess::eager {

/// Counts since the process began; what is held now and its limits, in bytes.
struct OpCacheStats {
  uint64_t hits = 0, misses = 0, evictions = 0;
  uint64_t entries = 0, bytes = 0, limit = 0;
  uint64_t bindingBytes = 0, bindingLimit = 0;
};

/// What the miss path gives: a new operator, or an error in the user's shapes.
using BuiltOp = llvm::Expected<std::unique_ptr<CompiledOp>>;
/// The operator of `key`; `build` makes it when there is none, once for all threads that ask meanwhile. The attributes
/// of `op` are compared too: a hash is not an identity.
llvm::Expected<CompiledOpRef> findOrBuild(const OpKey &key, const OpDef &op, llvm::function_ref<BuiltOp()> build);

/// Of the cache of this process.
OpCacheStats opCacheStats();
/// The classes of all entries, as OpClass writes them, sorted; not those of gradients, whose bodies nobody reads.
std::vector<std::string> cachedClasses();
/// Sets the limit in bytes and evicts what is beyond it. Bindings may hold a quarter of it in addition.
void setOpCacheLimit(uint64_t bytes);
/// Evicts everything, for tests. Operators in use live on, and those that other threads looked up until they look up
/// something again.
void clearOpCache();

} // namespace tess::eager
