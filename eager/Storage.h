//===- Storage.h - the memory that tensors share ----------------*- C++ -*-===//
//
// One block of elements, shared by a tensor and its views. It knows how often
// it was written in place, whether a queued operator still writes it, and why
// it has no value if that operator failed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Location.h"
#include "ops/Error.h"
#include "runtime/Device.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace tess::eager {

/// Why an operator gave no value; shared by its results and by everything computed from them.
struct Failure : llvm::ThreadSafeRefCountedBase<Failure> {
  ErrorCode code = ErrorCode::Internal;
  std::string message;
  /// Of the call. Put into words by who tells the failure: the worker must not wait for the lock of a frontend.
  Location place;
  /// Set by whoever raises it, so that nothing is reported twice.
  std::atomic<bool> reported = false;
  /// The message with the place.
  std::string text() const;
};
using FailureRef = llvm::IntrusiveRefCntPtr<Failure>;

/// Who wrote a storage in place: an operator, and the user's line of the call.
struct WriteNote : llvm::ThreadSafeRefCountedBase<WriteNote> {
  std::string op;
  Location place;
  /// "add at train.py:12".
  std::string text() const;
};
using WriteNoteRef = llvm::IntrusiveRefCntPtr<const WriteNote>;
/// Of a write by `op`, called here.
WriteNoteRef writeByHere(llvm::StringRef op);

class Storage;
using StorageRef = llvm::IntrusiveRefCntPtr<Storage>;

class Storage {
public:
  /// Uninitialised memory, aligned to 64. ResourceExhausted when the device's limit is reached.
  static llvm::Expected<StorageRef> allocate(int64_t bytes, runtime::Device &device = runtime::cpuDevice());
  using Deleter = void (*)(void *owner);
  /// Memory of someone else (an array of another library); `deleter(owner)` runs with the last reference.
  static StorageRef wrap(void *data, int64_t bytes, void *owner, Deleter deleter);

  char *data() const { return static_cast<char *>(block.data); }
  int64_t bytes() const { return size; }
  runtime::Device &device() const { return *home; }
  /// The memory belongs to another library, which may write it.
  bool isForeign() const { return deleter; }

  /// Takes over the memory of `other`, which has none then, and has a value; it had none.
  void take(Storage &other);

  /// Times the memory was written in place since it was made.
  uint32_t version() const { return writes.load(std::memory_order_acquire); }
  void noteWrite(WriteNoteRef by);
  /// The last one; null when there was none.
  WriteNoteRef lastWrite() const;
  /// No other tensor, view or saved value refers to it.
  bool isUnique() const { return refs.load(std::memory_order_acquire) == 1; }

  /// Number of the queued operator that writes it (Queue.h); 0: none ever did.
  uint64_t writer() const { return queued.load(std::memory_order_acquire); }
  void setWriter(uint64_t ticket) { queued.store(ticket, std::memory_order_release); }

  /// A queued operator refers to it, once more or no longer. True for the first and the last one.
  bool hold() { return holds.fetch_add(1, std::memory_order_relaxed) == 0; }
  bool drop() { return holds.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  /// A queued operator may still read or write it.
  bool isHeld() const { return holds.load(std::memory_order_acquire); }
  /// As isUnique, beside queued operators. May say no while one of them ends.
  bool isExclusive() const {
    int32_t all = refs.load(std::memory_order_acquire); // first: an operator drops before it lets go
    return all - int32_t(holds.load(std::memory_order_acquire)) == 1;
  }

  /// Variables of value semantics share it, or views do: which of both a write in place must ask. For ever.
  void noteCopy() { sharing.fetch_or(kCopies, std::memory_order_relaxed); }
  void noteView() {
    if (!hasViews())
      sharing.fetch_or(kViews, std::memory_order_relaxed);
  }
  bool hasCopies() const { return sharing.load(std::memory_order_relaxed) & kCopies; }
  bool hasViews() const { return sharing.load(std::memory_order_relaxed) & kViews; }

  /// Null when the value is good, as far as is known.
  Failure *failure() const { return failed.load(std::memory_order_acquire); }
  /// Poisons the value; the first failure stays.
  void poison(const FailureRef &why);

  void Retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy();
  }

private:
  Storage() = default;
  ~Storage() = default;
  static StorageRef make();
  void destroy();

  std::atomic<int32_t> refs = 0;
  std::atomic<uint32_t> writes = 0;
  std::atomic<uint32_t> holds = 0;
  static constexpr uint8_t kCopies = 1, kViews = 2;
  std::atomic<uint8_t> sharing = 0;
  runtime::Block block;
  int64_t size = 0;
  runtime::Device *home = nullptr;
  std::atomic<uint64_t> queued = 0;
  std::atomic<Failure *> failed = nullptr;
  WriteNoteRef note; // guarded by a mutex of Storage.cpp
  void *owner = nullptr;
  Deleter deleter = nullptr; // null: the block is the device's
};

} // namespace tess::eager
