//===- CallMemo.h - what arguments meant last time --------------*- C++ -*-===//
//
// Reading Python arguments into attributes costs more than a small operator.
// A call whose arguments say the same as an earlier one's takes what was made
// of those. Held under the interpreter's lock, bounded in entries.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/python/src/TensorObject.h"

#include "llvm/ADT/IntrusiveRefCntPtr.h"

#include <array>

namespace tess::python {

/// Arguments as words: two calls with equal words mean the same.
class ArgumentKey {
public:
  explicit ArgumentKey(const void *function) { words.push_back(int64_t(function)); }

  void add(int64_t word) { words.push_back(word); }
  /// An object that never changes, by identity.
  void addIdentity(PyObject *object);
  /// None, an int, a bool, a float, a str, a dtype, or a sequence of ints. False for others: their call has no key.
  bool addValue(PyObject *value);
  /// Dtype and shape.
  void addMeta(const eager::TensorImpl &tensor);
  uint64_t hash() const;

  llvm::SmallVector<int64_t, 32> words;
  llvm::SmallVector<PyObject *, 2> identities; // borrowed

private:
  bool addLong(PyObject *value);
};

/// A direct-mapped table from keys to values.
template <typename T> class CallMemo {
public:
  struct Entry : llvm::RefCountedBase<Entry> {
    llvm::SmallVector<int64_t, 0> words;
    llvm::SmallVector<nb::object, 0> held; // what the words name stays alive, so that no other object takes its address
    T value;
  };
  /// A holder, because another thread may take the slot while this one waits for its result.
  using EntryRef = llvm::IntrusiveRefCntPtr<Entry>;

  EntryRef find(const ArgumentKey &key) const {
    const EntryRef &entry = slots[key.hash() % kSlots];
    return entry && llvm::ArrayRef<int64_t>(entry->words) == llvm::ArrayRef<int64_t>(key.words) ? entry : nullptr;
  }
  EntryRef store(const ArgumentKey &key, T value) {
    EntryRef entry(new Entry);
    entry->words.assign(key.words.begin(), key.words.end());
    for (PyObject *object : key.identities)
      entry->held.push_back(nb::borrow(object));
    entry->value = std::move(value);
    EntryRef old = std::exchange(slots[key.hash() % kSlots], entry); // its end may run Python code
    return entry;
  }

private:
  static constexpr unsigned kSlots = 512;
  std::array<EntryRef, kSlots> slots;
};

} // namespace tess::python
