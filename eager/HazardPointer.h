//===- HazardPointer.h - what a thread reads is not freed -------*- C++ -*-===//
//
// A reader announces which object of a shared structure it reads, and then
// looks whether the object is still in there. Whoever takes an object out
// frees it only when nobody has announced it. So readers share no reference
// count, and a thread that stops reading keeps nothing alive.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Compiler.h"

#include <atomic>
#include <pthread.h>
#include <utility>

namespace tess::eager {

/// One announcement. Made and used by one thread; a thread may have any number of them.
class HazardPointer {
public:
  /// Protects nothing and never will.
  HazardPointer() = default;
  HazardPointer(HazardPointer &&other) noexcept : record(std::exchange(other.record, nullptr)) {}
  HazardPointer &operator=(HazardPointer &&other) noexcept {
    std::swap(record, other.record);
    return *this;
  }
  ~HazardPointer() {
    if (record)
      record->object.store(nullptr, std::memory_order_release);
  }

  /// Protects nothing yet. May take a mutex: not to be called with one that is held across forks.
  static HazardPointer make() {
    Record *record = own;
    if (LLVM_UNLIKELY(!record || record->object.load(std::memory_order_relaxed)))
      return HazardPointer(acquire());
    record->object.store(record, std::memory_order_release); // who sees this sees that earlier reads are over
    return HazardPointer(record);
  }

  /// Keeps `object` from being freed, provided that after this call it is still where it was found, or that the caller
  /// holds the mutex that its removal takes.
  void protect(const void *object) {
    record->object.store(object, std::memory_order_release);
    // Before what this thread reads next. A fence here would cost each reader more than all else that it does, so the
    // kernel makes the processors that run readers wait, when somebody removes.
    if (LLVM_LIKELY(!readersFence))
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else
      std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  /// Addresses of protected objects.
  using Objects = llvm::SmallVector<const void *, 16>;
  /// Appends every protected object, and perhaps others. An object that was taken out before this call and is not among
  /// them may be freed. False: the protected objects are not known, and nothing may be freed.
  static bool findProtected(Objects &objects);

private:
  struct alignas(64) Record {                  // a line of its own: its thread writes it at each read
    std::atomic<const void *> object{nullptr}; // null: free to be taken; itself: taken, protects nothing
    Record *next = nullptr;                    // of the same thread
    pthread_t owner = 0;                       // the last thread that took it from the registry
    bool isOwned = false;                      // that thread keeps it until it ends
  };
  struct Registry;

  explicit HazardPointer(Record *record) : record(record) {}
  static Registry &registry();
  static Record *acquire();

  static constinit thread_local Record *own; // this thread's
  static bool readersFence;                  // the kernel does not do it; fixed before there is a record
  Record *record = nullptr;
};

} // namespace tess::eager
