//===- ObjectCache.h - compiled code on disk --------------------*- C++ -*-===//
//
// One file an entry (CacheFolder.h). A damaged, foreign or missing entry is a miss,
// never an error.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <mutex>
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
  /// Keeps an entry, which a thread writes. Failure to write is no error: the cache is an optimisation.
  void store(llvm::StringRef key, llvm::StringRef content);
  /// Why the first entry since configure() could not be written; empty: all were.
  std::string failure() const;
  /// Waits until what was stored before is on disk: a process calls it before it ends.
  void awaitWritten();
  /// The same, and until it has been followed by all that the limit asks for; for tests.
  void awaitTrimmed();
  /// A fork comes between these two; the child leaves to the parent what waits to be written.
  void beforeFork();
  void afterFork(bool isChild);

private:
  struct State;
  void noteWritten(unsigned subfolder, uint64_t bytes); // with the mutex
  // Of the thread, which has its own reference; the others with the lock, and without it while they use the disk.
  static void work(const std::shared_ptr<State> &state);
  static void writeNext(State &state, std::unique_lock<std::mutex> &lock);
  static void trimNext(State &state, std::unique_lock<std::mutex> &lock);

  std::shared_ptr<State> state;
};

} // namespace tess::compiler
