//===- OpEntries.h - the table of the operator cache ------------*- C++ -*-===//
//
// With a hundred thousand operators a look-up waits for memory. So it touches
// one place: a slot has what tells one operator from another, and a look-up
// takes no lock and counts no reference.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/OpCache.h"

#include <array>
#include <cassert>

namespace tess::eager {

/// A few slots, side by side in a line of the processor's cache.
struct alignas(64) EntryLine {
  static constexpr unsigned kSlots = 4;
  std::atomic<uint64_t> print[kSlots]{}; // KeyPrint::high
  std::atomic<uint64_t> entry[kSlots]{}; // a packed Entry; 0: the slot is empty
};

/// Memory for the lines of several tables. Thread-safe. Tables of one size lie side by side, in large pages where they
/// fill some. Lines that a table has outgrown stay its own, because another thread may still read them.
class EntryMemory {
public:
  explicit EntryMemory(unsigned numTables) : numTables(numTables) {}
  ~EntryMemory();
  EntryMemory(const EntryMemory &) = delete;
  /// The 2^level lines of a table: the same ones at each call, empty at the first.
  EntryLine *get(unsigned table, unsigned level);

private:
  static constexpr unsigned kMaxLevel = 32;
  size_t bytesOf(unsigned level) const { return (sizeof(EntryLine) * numTables) << level; }

  const unsigned numTables;
  std::array<std::atomic<EntryLine *>, kMaxLevel> levels{};
};

/// An operator in a word. From the lowest bit: whether it was used since eviction last looked, a tag, the operator's
/// id, the address.
///
/// A look-up gets the slot of another key when that key has the same operator, the same 64 bits of `high`, and the same
/// tag and shard of `low`: 77 nearly independent bits, beside those that fix the home. Among a hundred thousand keys
/// the chance of that is below 10^-13; attributes are compared in addition.
struct Entry {
  static constexpr unsigned kTagBits = 9, kIdBits = 12, kAlignmentBits = 6;
  static constexpr unsigned kTagShift = 1, kIdShift = kTagShift + kTagBits, kAddressShift = kIdShift + kIdBits;
  static constexpr uint64_t kUsed = 1, kNameMask = (uint64_t(1) << kAddressShift) - 1 - kUsed;
  static_assert(alignof(CompiledOp) == 1 << kAlignmentBits && 48 - kAlignmentBits + kAddressShift == 64);

  /// The tag and id that an entry for `key` and `op` has, at their place in the word.
  static uint64_t nameOf(const KeyPrint &key, const OpDef &op) {
    uint64_t tag = key.low >> 50 & ((1u << kTagBits) - 1);
    return tag << kTagShift | uint64_t(op.info().id) << kIdShift;
  }
  /// The word of `op`, marked as used.
  static uint64_t pack(CompiledOp *op) {
    assert(op->op.info().id >> kIdBits == 0 && reinterpret_cast<uintptr_t>(op) >> 48 == 0);
    uint64_t address = reinterpret_cast<uintptr_t>(op) >> kAlignmentBits;
    return address << kAddressShift | nameOf(op->key, op->op) | kUsed;
  }
  /// The operator of a word; null for an empty slot.
  static CompiledOp *addressIn(uint64_t entry) {
    return reinterpret_cast<CompiledOp *>(entry >> kAddressShift << kAlignmentBits);
  }
};

/// The slots of a table; a power of two of lines.
struct EntrySlots {
  EntryLine *lines;
  size_t lineMask;

  /// Slots are numbered line by line; line numbers and slots wrap around.
  size_t mask() const { return lineMask * EntryLine::kSlots | (EntryLine::kSlots - 1); }
  EntryLine &line(size_t i) const { return lines[i & lineMask]; }
  EntryLine &lineOf(size_t slot) const { return line(slot / EntryLine::kSlots); }
  uint64_t entry(size_t slot) const;
  /// Writes a slot: the print first, for readers that run meanwhile.
  void set(size_t slot, uint64_t newPrint, uint64_t newEntry) const;
  /// An operator lies in the first slot from the start of its line that was empty: most look-ups end in that line.
  static size_t homeLine(const KeyPrint &key) { return key.low >> 16; }
  size_t homeOf(const KeyPrint &key) const { return (homeLine(key) & lineMask) * EntryLine::kSlots; }
};

/// The operators of one shard by key: open addressing with linear probing from the start of a line. Owns none of them.
/// Only findProtected() may be called while another thread calls a function.
class alignas(64) EntryTable {
public:
  EntryTable(EntryMemory &memory, unsigned number);

  /// The operator of `key` that serves `op`, protected; notes that it was used. Null: there is none, or the table
  /// changed meanwhile. Any thread may call it at any time.
  LLVM_ATTRIBUTE_ALWAYS_INLINE CompiledOpRef findProtected(KeyPrint key, const OpDef &op) const {
    const uint64_t before = sequence.load(std::memory_order_acquire);
    if (LLVM_UNLIKELY(before & 1))
      return CompiledOpRef();
    HazardPointer hazard = HazardPointer::make();
    CompiledOp *found = search(key, op, [&](CompiledOp *candidate) {
      hazard.protect(candidate);
      return sequence.load(std::memory_order_acquire) == before;
    });
    return CompiledOpRef(found, std::move(hazard));
  }
  /// The same without protection; null: there is none.
  CompiledOp *find(KeyPrint key, const OpDef &op) const {
    return search(key, op, [](CompiledOp *) { return true; });
  }
  /// Adds `op`, which must not be in the table; it counts as used.
  void insert(CompiledOp *op);
  /// Takes out `op`, which must be in the table; threads that found it before may still read it.
  void erase(const CompiledOp *op);
  /// Whether `op`, which must be in the table, was inserted or found since the last time.
  bool exchangeUsed(const CompiledOp *op);
  /// Takes out all operators.
  void clear();
  size_t size() const { return count; }

private:
  class Change;
  EntrySlots slots() const {
    uintptr_t packed = current.load(std::memory_order_acquire);
    constexpr uintptr_t levelMask = alignof(EntryLine) - 1;
    return {reinterpret_cast<EntryLine *>(packed & ~levelMask), (size_t(1) << (packed & levelMask)) - 1};
  }
  template <typename MayRead>
  LLVM_ATTRIBUTE_ALWAYS_INLINE CompiledOp *search(KeyPrint key, const OpDef &op, MayRead mayRead) const;
  size_t indexOf(const CompiledOp *op) const;
  static void place(EntrySlots where, const KeyPrint &key, uint64_t entry);
  static void empty(EntrySlots left);
  void setLevel(unsigned newLevel);
  void grow();

  std::atomic<uint64_t> sequence{0}; // odd while the table changes
  std::atomic<uintptr_t> current{0}; // the lines, and their level in the bits that alignment leaves free
  EntryMemory &memory;
  const unsigned number;
  unsigned level = 0;
  size_t count = 0;
};

/// `mayRead`: whether an operator that was found may be read; false ends the search with null.
template <typename MayRead> CompiledOp *EntryTable::search(KeyPrint key, const OpDef &op, MayRead mayRead) const {
  const EntrySlots all = slots();
  const uint64_t name = Entry::nameOf(key, op);
  for (size_t begin = 0; begin <= all.lineMask; ++begin) { // while slots change there may be no empty one
    EntryLine &line = all.line(EntrySlots::homeLine(key) + begin);
#pragma clang loop unroll(disable) // most often it is the first one
    for (unsigned i = 0; i < EntryLine::kSlots; ++i) {
      if (line.print[i].load(std::memory_order_acquire) != key.high)
        continue;
      uint64_t entry = line.entry[i].load(std::memory_order_acquire);
      CompiledOp *found = Entry::addressIn(entry);
      if (!found || (entry & Entry::kNameMask) != name)
        continue;
      if (!mayRead(found))
        return nullptr;
      if (!found->answers(op))
        continue;
      if (LLVM_UNLIKELY(!(entry & Entry::kUsed))) // a slot that changed meanwhile stays as it is
        line.entry[i].compare_exchange_strong(entry, entry | Entry::kUsed, std::memory_order_relaxed);
      return found;
    }
    for (const std::atomic<uint64_t> &slot : line.entry)
      if (!slot.load(std::memory_order_acquire))
        return nullptr;
  }
  return nullptr;
}

} // namespace tess::eager
