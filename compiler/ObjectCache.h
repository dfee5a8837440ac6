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

/// A folder of entries with a limit in bytes, which any number of processes may share. Thread-safe; off until it is
/// configured.
class ObjectCache {
public:
  /// Sets the folder ("" switches the cache off) and the limit in bytes; the folder is made with the first entry.
  void configure(llvm::StringRef folder, uint64_t maxBytes);
  /// Folder and limit.
  std::pair<std::string, uint64_t> settings() const;
  /// The content under `key`, a text that determines it: code version and CPU features are part of the key.
  std::optional<std::string> find(llvm::StringRef key) const;
  /// Writes an entry; when the limit is passed, the least recently used ones go. Failure to write is silent: the cache
  /// is an optimisation.
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
