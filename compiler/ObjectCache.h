//===- ObjectCache.h - images on disk ---------------------------*- C++ -*-===//
//
// One file an image, named by the hash of what it computes and for which CPU.
// A damaged, foreign or missing entry is a miss, never an error.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/Image.h"
#include "llvm/ADT/StringRef.h"

#include <mutex>
#include <optional>

namespace tess::compiler {

class ObjectCache {
public:
  /// "" switches the cache off. The folder is made when the first image is stored.
  void configure(llvm::StringRef folder, uint64_t maxBytes);
  /// `key`: text that determines the code.
  std::optional<runtime::Image> find(llvm::StringRef key) const;
  /// Failure to write is silent: the cache is an optimisation. Least recently used entries go when the limit is passed.
  void store(llvm::StringRef key, const runtime::Image &image);

private:
  std::string pathOf(llvm::StringRef key) const;
  void evict();

  mutable std::mutex mutex;
  std::string folder;
  uint64_t maxBytes = 0;
  uint64_t bytesSinceEviction = 0;
};

} // namespace tess::compiler
