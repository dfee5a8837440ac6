//===- LruCache.h - values by key, bounded in bytes -------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace tess {

/// Hashes keys of an LruCache: texts, which are looked up without a copy, and numbers that are hashes themselves.
struct LruKeyHash {
  using is_transparent = void;
  size_t operator()(llvm::StringRef text) const { return llvm::xxh3_64bits(text); }
  size_t operator()(uint64_t hash) const { return hash; }
};

/// Values by key within a limit in bytes; the least recently used value goes first. Not thread-safe: the owner's mutex
/// guards it.
template <typename Value, typename Key = std::string> class LruCache {
public:
  explicit LruCache(uint64_t limit) : maxBytes(limit) {}

  /// The value under `key`, which becomes the most recently used; null when there is none. Valid until the next insert
  /// or setLimit.
  template <typename Wanted> Value *find(const Wanted &key) {
    auto found = index.find(key);
    if (found == index.end())
      return nullptr;
    order.splice(order.begin(), order, found->second);
    return &found->second->value;
  }

  /// Adds `value` unless `key` has one already. `valueBytes`: bytes that the value holds, itself included. Evicts at
  /// once when the limit is passed, the new value too where it is larger than the limit.
  void insert(Key key, Value value, uint64_t valueBytes) {
    auto [place, isNew] = index.try_emplace(std::move(key));
    if (!isNew)
      return;
    uint64_t size = valueBytes + sizeof(Entry) + sizeof(Key);
    if constexpr (requires { place->first.size(); })
      size += place->first.size();
    order.push_front({std::move(value), &place->first, size});
    place->second = order.begin();
    held += size;
    evict();
  }

  /// Calls fn(key, value) for all, from the least recently used one on.
  template <typename Fn> void visit(Fn &&fn) const {
    for (auto entry = order.rbegin(); entry != order.rend(); ++entry)
      fn(*entry->key, entry->value);
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
    const Key *key; // in the map
    uint64_t bytes;
  };

  void evict() {
    while (held > maxBytes && !order.empty()) {
      held -= order.back().bytes;
      index.erase(index.find(*order.back().key));
      order.pop_back();
      ++numEvicted;
    }
  }

  std::list<Entry> order; // the latest used first
  std::unordered_map<Key, typename std::list<Entry>::iterator, LruKeyHash, std::equal_to<>> index;
  uint64_t held = 0, maxBytes, numEvicted = 0;
};

} // namespace tess
