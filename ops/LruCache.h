//===- LruCache.h - values by text, bounded in bytes ------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <list>
#include <utility>

namespace tess {

/// Values by text within a limit in bytes; the least recently used value goes first. Not thread-safe: the owner's mutex
/// guards it.
template <typename Value> class LruCache {
public:
  explicit LruCache(uint64_t limit) : maxBytes(limit) {}

  /// The value under `key`, which becomes the most recently used; null when there is none. Valid until the next insert
  /// or setLimit.
  Value *find(llvm::StringRef key) {
    auto found = index.find(key);
    if (found == index.end())
      return nullptr;
    order.splice(order.begin(), order, found->second);
    return &found->second->value;
  }

  /// Adds `value` unless `key` has one already. `valueBytes`: bytes that the value holds, itself included. Evicts at
  /// once when the limit is passed, the new value too where it is larger than the limit.
  void insert(llvm::StringRef key, Value value, uint64_t valueBytes) {
    auto [place, isNew] = index.try_emplace(key);
    if (!isNew)
      return;
    uint64_t size = valueBytes + key.size() + sizeof(Entry);
    order.push_front({std::move(value), place->first(), size});
    place->second = order.begin();
    held += size;
    evict();
  }

  /// A new limit in bytes; evicts at once when more is held.
  void setLimit(uint64_t limit) {
    maxBytes = limit;
    evict();
  }

  /// Values held, bytes held, the limit in bytes, and values evicted since the start.
  uint64_t size() const { return order.size(); }
  uint64_t bytes() const { return held; }
  uint64_t limit() const { return maxBytes; }
  uint64_t evictions() const { return numEvicted; }

private:
  struct Entry {
    Value value;
    llvm::StringRef key; // in the map
    uint64_t bytes;
  };

  void evict() {
    while (held > maxBytes && !order.empty()) {
      held -= order.back().bytes;
      index.erase(order.back().key);
      order.pop_back();
      ++numEvicted;
    }
  }

  std::list<Entry> order; // the latest used first
  llvm::StringMap<typename std::list<Entry>::iterator> index;
  uint64_t held = 0, maxBytes, numEvicted = 0;
};

} // namespace tess
