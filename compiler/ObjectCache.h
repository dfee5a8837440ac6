//===- ObjectCache.h - compiled code on disk --------------------*- C++ -*-===//
//
// One file an entry (CacheFolder.h). A damaged, foreign or missing entry is a miss,
// never an error.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <optional>
#include <string>

namespace tess::compiler {

/// A folder of entries with a limit in bytes, which any number of processes may share. Thread-safe; off until it is
/// configured. Each of its subfolders may hold an equal part of the limit: one that holds more loses its least recently
/// used entries soon after the next entry that comes into it.
class ObjectCache {
public:
  ObjectCache();
  /// Sets the folder ("" switches the cache off) and the limit in bytes; the folder is made with the first entry.
  void configure(llvm::StringRef folder, uint64_t maxBytes);
  /// Folder and limit.
  std::pair<std::string, uint64_t> settings() const;
  /// The content under `key`, a text that determines it: code version and CPU features are part of the key.
  std::optional<std::string> find(llvm::StringRef key) const;
  /// Writes an entry. Failure to write is silent: the cache is an optimisation.
  void store(llvm::StringRef key, llvm::StringRef content);
  /// Waits until what was stored before has been followed by all that the limit asks for; for tests.
  void awaitTrimming();

private:
  struct State;
  void noteWritten(unsigned subfolder, uint64_t bytes);
  static void trim(const std::shared_ptr<State> &state); // of the thread, which has its own reference

  std::shared_ptr<State> state;
};

} // namespace tess::compiler
