//===- OpEntries.cpp - the table of the operator cache -------------------===//
#include "eager/OpEntries.h"

#include "llvm/Support/MemAlloc.h"

#include <memory>
#include <sys/mman.h>

namespace tess::eager {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static constexpr size_t kLargePage = size_t(2) << 20;

static size_t alignmentOf(size_t bytes) { return bytes < kLargePage ? alignof(EntryLine) : kLargePage; }

EntryLine *EntryMemory::get(unsigned table, unsigned level) {
  EntryLine *all = levels[level].load(std::memory_order_acquire);
  if (!all) {
    size_t bytes = bytesOf(level), alignment = alignmentOf(bytes);
    void *memory = llvm::allocate_buffer(bytes, alignment);
    if (bytes >= kLargePage)
      ::madvise(memory, bytes, MADV_HUGEPAGE); // a wish
    auto *made = static_cast<EntryLine *>(memory);
    std::uninitialized_value_construct_n(made, bytes / sizeof(EntryLine));
    if (levels[level].compare_exchange_strong(all, made, std::memory_order_acq_rel))
      all = made;
    else
      llvm::deallocate_buffer(memory, bytes, alignment); // another table was first
  }
  return all + (size_t(table) << level);
}

EntryMemory::~EntryMemory() {
  for (unsigned level = 0; level < kMaxLevel; ++level)
    if (EntryLine *all = levels[level].load(std::memory_order_relaxed))
      llvm::deallocate_buffer(all, bytesOf(level), alignmentOf(bytesOf(level)));
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

/// While it lives, and if it lived since they began, readers without the lock discard what they found. Slots are
/// written with release, so that who reads a new one also reads an odd or a later number.
class EntryTable::Change {
public:
  explicit Change(EntryTable &table) : sequence(table.sequence), before(sequence.load(std::memory_order_relaxed)) {
    sequence.store(before + 1, std::memory_order_relaxed);
  }
  ~Change() { sequence.store(before + 2, std::memory_order_release); }

private:
  std::atomic<uint64_t> &sequence;
  uint64_t before;
};

static constexpr unsigned kFirstLevel = 2;

EntryTable::EntryTable(EntryMemory &memory, unsigned number) : memory(memory), number(number) { setLevel(kFirstLevel); }

void EntryTable::setLevel(unsigned newLevel) {
  level = newLevel;
  current.store(reinterpret_cast<uintptr_t>(memory.get(number, level)) | level, std::memory_order_release);
}

uint64_t EntrySlots::entry(size_t slot) const {
  return lineOf(slot).entry[slot % EntryLine::kSlots].load(std::memory_order_relaxed);
}

void EntrySlots::set(size_t slot, uint64_t newPrint, uint64_t newEntry) const {
  lineOf(slot).print[slot % EntryLine::kSlots].store(newPrint, std::memory_order_release);
  lineOf(slot).entry[slot % EntryLine::kSlots].store(newEntry, std::memory_order_release);
}

void EntryTable::place(EntrySlots where, const KeyPrint &key, uint64_t entry) {
  size_t i = where.homeOf(key);
  while (where.entry(i))
    ++i;
  where.set(i, key.high, entry);
}

/// A table that is not in use is empty, so that it can be used again.
void EntryTable::empty(EntrySlots left) {
  for (size_t i = 0; i <= left.mask(); ++i)
    left.set(i, 0, 0);
}

void EntryTable::grow() {
  const EntrySlots old = slots();
  setLevel(level + 1);
  for (size_t i = 0; i <= old.mask(); ++i)
    if (uint64_t entry = old.entry(i))
      place(slots(), Entry::addressIn(entry)->key, entry);
  empty(old);
}

void EntryTable::insert(CompiledOp *op) {
  Change change(*this);
  ++count;
  if (8 * count > 7 * (slots().mask() + 1))
    grow();
  place(slots(), op->key, Entry::pack(op));
}

size_t EntryTable::indexOf(const CompiledOp *op) const {
  const EntrySlots all = slots();
  size_t i = all.homeOf(op->key);
  while (Entry::addressIn(all.entry(i)) != op)
    ++i;
  return i;
}

void EntryTable::erase(const CompiledOp *op) {
  Change change(*this);
  const EntrySlots all = slots();
  size_t hole = indexOf(op);
  // What follows without a gap and may lie at the hole moves there: no look-up meets a gap before its entry.
  for (size_t i = hole + 1;; ++i) {
    uint64_t entry = all.entry(i);
    if (!entry)
      break;
    const KeyPrint &key = Entry::addressIn(entry)->key;
    if (((i - all.homeOf(key)) & all.mask()) < ((i - hole) & all.mask()))
      continue;
    all.set(hole, key.high, entry);
    hole = i;
  }
  all.set(hole, 0, 0);
  --count;
}

bool EntryTable::exchangeUsed(const CompiledOp *op) {
  const size_t i = indexOf(op);
  std::atomic<uint64_t> &entry = slots().lineOf(i).entry[i % EntryLine::kSlots];
  return entry.fetch_and(~Entry::kUsed, std::memory_order_relaxed) & Entry::kUsed;
}

void EntryTable::clear() {
  Change change(*this);
  empty(slots());
  setLevel(kFirstLevel);
  count = 0;
}

} // namespace tess::eager
