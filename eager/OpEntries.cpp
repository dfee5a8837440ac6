//===- OpEntries.cpp - memory and table of the operator cache ------------===//
#include "eager/OpEntries.h"

#include "runtime/Fork.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemAlloc.h"

#include <mutex>
#include <sys/mman.h>
#include <utility>

namespace tess::eager {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {

/// All entries, of all shards. Few of them take little memory; more lie in large pages where the system has them,
/// because the translation of an address takes longer than the read. What is given back is used again, never freed.
class EntryMemory {
public:
  void *allocate() {
    std::lock_guard<std::mutex> lock(mutex);
    if (!released.empty())
      return released.pop_back_val();
    if (left == 0)
      addSlab();
    --left;
    return std::exchange(next, next + sizeof(OpEntry));
  }
  void free(void *entry) {
    std::lock_guard<std::mutex> lock(mutex);
    released.push_back(entry);
  }
  static EntryMemory &get() {
    static auto *instance = new EntryMemory; // never destroyed: a thread's front may outlive main
    return *instance;
  }

private:
  static constexpr size_t kFirst = size_t(64) << 10, kLargePage = size_t(2) << 20;

  EntryMemory() { runtime::holdAcrossFork(mutex); }
  void addSlab() {
    size_t size = next ? kLargePage : kFirst;
    next = static_cast<char *>(llvm::allocate_buffer(size, size));
    left = size / sizeof(OpEntry);
    if (size == kLargePage)
      ::madvise(next, size, MADV_HUGEPAGE); // a wish
  }

  std::mutex mutex;
  char *next = nullptr;
  size_t left = 0; // entries from `next` on
  llvm::SmallVector<void *> released;
};

} // namespace

void *OpEntry::operator new(size_t) { return EntryMemory::get().allocate(); }
void OpEntry::operator delete(void *entry) { EntryMemory::get().free(entry); }

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

OpEntry *EntryTable::find(const KeyPrint &key, llvm::function_ref<bool(const OpEntry &)> answers) const {
  if (slots.empty())
    return nullptr;
  for (size_t i = homeOf(key); slots[i].getPointer(); i = (i + 1) & mask()) {
    OpEntry *entry = slots[i].getPointer();
    if (slots[i].getInt() == tagOf(key) && entry->key == key && answers(*entry))
      return entry;
  }
  return nullptr;
}

void EntryTable::place(OpEntry *entry) {
  size_t i = homeOf(entry->key);
  while (slots[i].getPointer())
    i = (i + 1) & mask();
  slots[i] = Slot(entry, tagOf(entry->key));
}

void EntryTable::grow() {
  std::vector<Slot> old(std::max<size_t>(16, 2 * slots.size()));
  old.swap(slots);
  for (Slot slot : old)
    if (slot.getPointer())
      place(slot.getPointer());
}

void EntryTable::insert(OpEntry *entry) {
  ++count;
  if (8 * count > 7 * slots.size())
    grow();
  place(entry);
}

void EntryTable::erase(OpEntry *entry) {
  size_t hole = homeOf(entry->key);
  while (slots[hole].getPointer() != entry)
    hole = (hole + 1) & mask();
  // What follows without a gap and may lie at the hole moves there: no look-up meets a gap before its entry.
  for (size_t i = (hole + 1) & mask(); slots[i].getPointer(); i = (i + 1) & mask()) {
    size_t home = homeOf(slots[i].getPointer()->key);
    if (((i - home) & mask()) < ((i - hole) & mask()))
      continue;
    slots[hole] = slots[i];
    hole = i;
  }
  slots[hole] = Slot();
  --count;
}

void EntryTable::clear() {
  slots.clear();
  count = 0;
}

} // namespace tess::eager
