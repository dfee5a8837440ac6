//===- OpEntries.h - memory and table of the operator cache -----*- C++ -*-===//
//
// With a hundred thousand entries a look-up waits for memory, twice: for its
// slot and for its entry. So both are small and lie densely: a slot is one
// word, an entry half a line.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/OpCache.h"
#include "llvm/ADT/PointerIntPair.h"

#include <vector>

namespace tess::eager {

/// The entries of one shard by key: open addressing with linear probing. Owns none of them; not thread-safe.
class EntryTable {
public:
  /// The entry with this key for which `answers` holds, or null.
  OpEntry *find(const KeyPrint &key, llvm::function_ref<bool(const OpEntry &)> answers) const;
  void insert(OpEntry *entry);
  /// `entry` must be in the table.
  void erase(OpEntry *entry);
  void clear();
  size_t size() const { return count; }

private:
  static constexpr unsigned kTagBits = 5; // that an entry's alignment leaves free
  /// An entry with a few bits of its key, so that a look-up reads no entry but its own; null where nothing is.
  using Slot = llvm::PointerIntPair<OpEntry *, kTagBits, unsigned>;

  static unsigned tagOf(const KeyPrint &key) { return key.low >> 50 & ((1u << kTagBits) - 1); }
  size_t mask() const { return slots.size() - 1; }
  size_t homeOf(const KeyPrint &key) const { return (key.low >> 16) & mask(); }
  void place(OpEntry *entry);
  void grow();

  std::vector<Slot> slots; // a power of two of them, or none
  size_t count = 0;
};

} // namespace tess::eager
