//===- ObjectCache.h - compiled code on disk --------------------*- C++ -*-===//
//
// One file an entry, named by the hash of its key. A damaged, foreign or missing
// entry is a miss, never an error.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <mutex>
#include <optional>
#include <string>

namespace tess::compiler {

class ObjectCache {
public:
  /// "" switches it off. The folder is made when the first entry is stored.
  void configure(llvm::StringRef folder, uint64_t maxBytes);
  /// Folder and limit.
  std::pair<std::string, uint64_t> settings() const;
  /// `key`: text that determines the content, code version and CPU features among it.
  std::optional<std::string> find(llvm::StringRef key) const;
  /// Failure to write is silent: the cache is an optimisation. Least recently used entries go when the limit is passed.
  void store(llvm::StringRef key, llvm::StringRef content);

private:
  std::string pathOf(llvm::StringRef key) const;
  void evict();

  mutable std::mutex mutex;
  std::string folder;
  uint64_t maxBytes = 0;
  uint64_t bytesSinceEviction = 0;
};

} // namespace tess::compiler
