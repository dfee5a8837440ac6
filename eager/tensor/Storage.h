//===- Storage.h - the memory that tensors share ----------------*- C++ -*-===//
//
// One block of elements, shared by a tensor and its views. It knows how often
// it was written in place, whether a queued operator still writes it, and why
// it has no value if that operator failed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Location.h"
#include "ops/vocabulary/Error.h"
#include "runtime/device/Device.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/SmallVector.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace tess::eager {

/// Why an operator gave no value; shared by its results and by everything computed from them.
struct Failure : llvm::ThreadSafeRefCountedBase<Failure> {
  ErrorCode code = ErrorCode::Internal;
  std::string message;
  /// The place of the call. It is described only when the failure is told: the worker must not wait for the lock of a
  /// frontend.
  Location place;
  /// Set when the failure is raised, so that it is reported once.
  std::atomic<bool> reported = false;
  /// The failures that this one stands for, where several reached one operator; none: it is one by itself.
  llvm::SmallVector<llvm::IntrusiveRefCntPtr<Failure>, 0> causes;
  /// The message with the place; those of several causes on lines of their own.
  std::string text() const;
  /// Marks the failure and its causes as reported.
  void noteReported();
};
/// Shared by the storages that the failure poisons.
using FailureRef = llvm::IntrusiveRefCntPtr<Failure>;
/// The failure of a value that there cannot be: nothing failed, so sync() does not report it.
FailureRef noValue(ErrorCode code, std::string message);

/// A write in place: the operator, and the user's line of the call.
struct WriteNote : llvm::ThreadSafeRefCountedBase<WriteNote> {
  std::string op;
  Location place;
  /// "add at train.py:12".
  std::string text() const;
};
/// Shared by the storages that one call writes.
using WriteNoteRef = llvm::IntrusiveRefCntPtr<const WriteNote>;
/// The note of a write by `op` at the present place.
WriteNoteRef writeByHere(llvm::StringRef op);

struct Cell;
class Storage;
/// A counted reference; any thread may hold one.
using StorageRef = llvm::IntrusiveRefCntPtr<Storage>;

/// Memory that tensors share, with the state that decides who may write it. Counts and flags may be read by any thread.
class Storage {
public:
  /// Uninitialised memory, aligned to 64. ResourceExhausted when the device's limit is reached.
  static llvm::Expected<StorageRef> allocate(int64_t bytes, runtime::Device &device);
  /// Memory of the device, which becomes the storage's own.
  static StorageRef own(runtime::Block block, int64_t bytes, runtime::Device &device);
  using Deleter = void (*)(void *owner);
  /// Memory of another library (an array) on `device`; `deleter(owner)` runs with the last reference. What is read-only
  /// may be mapped so, or be shared with values that must not change.
  static StorageRef wrap(void *data, int64_t bytes, void *owner, Deleter deleter, runtime::Device &device,
                         bool isReadOnly = false);

  /// The memory (null: none yet), its size in bytes, and the device that it is on.
  char *data() const { return static_cast<char *>(block.data); }
  int64_t bytes() const { return size; }
  runtime::Device &device() const { return *home; }
  /// Whether the memory belongs to another library, which may write it.
  bool isForeign() const { return deleter; }
  /// What wrap() was given as the owner.
  void *foreignOwner() const { return owner; }
  /// Whether nobody may write the memory in place.
  bool isReadOnly() const { return readOnly; }

  /// A storage with the memory of `dying`, which is empty afterwards.
  static StorageRef takeFrom(Storage &dying);
  /// How the value was made, where that is known (Lineage.h); the storage counts as one reference.
  Cell *lineage() const { return cell; }
  void setLineage(Cell *known) { cell = known; }
  /// Gives the memory back to the device; the value can be made again by its lineage, into take().
  void evict();
  /// Whether that happened.
  bool isEvicted() const { return cell && size && !block.data; }

  /// Moves `other`'s memory into this storage, which must be empty, and clears the failure of this storage; `other` is
  /// empty afterwards.
  void take(Storage &other);

  /// How often the memory was written in place since it was made.
  uint32_t version() const { return writes.load(std::memory_order_acquire); }
  /// Counts a write in place, and keeps its note for lastWrite(), which gives null when there was none.
  void noteWrite(WriteNoteRef by);
  WriteNoteRef lastWrite() const;
  /// Whether only one tensor, view or saved value refers to it.
  bool isUnique() const { return refs.load(std::memory_order_acquire) == 1; }

  /// The number of the queued operator that writes it (Queue.h), which may have ended; 0: none ever did.
  uint64_t writer() const { return queued.load(std::memory_order_acquire); }
  void setWriter(uint64_t ticket) { queued.store(ticket, std::memory_order_release); }

  /// Counts the queued operators that refer to it, one more and one less. True for the first and for the last.
  bool hold() { return holds.fetch_add(1, std::memory_order_relaxed) == 0; }
  bool drop() { return holds.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  /// Whether a queued operator may still read or write it.
  bool isHeld() const { return holds.load(std::memory_order_acquire); }
  /// As isUnique(), without counting queued operators; may be false while one of them ends.
  bool isExclusive() const {
    int32_t all = refs.load(std::memory_order_acquire); // first: an operator drops before it lets go
    return all - int32_t(holds.load(std::memory_order_acquire)) == 1;
  }

  /// Whether copies (variables with value semantics) or views share the memory, which a write in place must know. A
  /// note is never taken back.
  void noteCopy() { sharing.fetch_or(kCopies, std::memory_order_relaxed); }
  void noteView() {
    if (!hasViews())
      sharing.fetch_or(kViews, std::memory_order_relaxed);
  }
  /// Whether that was ever noted.
  bool hasCopies() const { return sharing.load(std::memory_order_relaxed) & kCopies; }
  bool hasViews() const { return sharing.load(std::memory_order_relaxed) & kViews; }
  /// Notes that the address left eager, for good: others may read or write the memory at any time.
  void noteExposed() { sharing.fetch_or(kExposed, std::memory_order_relaxed); }
  bool isExposed() const { return sharing.load(std::memory_order_relaxed) & kExposed; }

  /// Notes that compiled programs have the value as a constant, where it lies.
  void noteConstant() { sharing.fetch_or(kConstant, std::memory_order_relaxed); }
  bool isConstant() const { return sharing.load(std::memory_order_relaxed) & kConstant; }

  /// Whether a table of large values has it (MemoryReport.h).
  void setNoted() { sharing.fetch_or(kNoted, std::memory_order_relaxed); }
  bool isNoted() const { return sharing.load(std::memory_order_relaxed) & kNoted; }

  /// A print of the bytes, taken in a session of a check (CheckOperands.cpp): false when another one was taken in the
  /// same session, of memory that was not written in between. forgetPrint(): it is written, and that is not counted.
  bool matchesPrint(uint16_t session, uint32_t print);
  void forgetPrint() { lastPrint.store(0, std::memory_order_relaxed); }

  /// Why the operator that should have written the value failed; null as long as no failure is known.
  Failure *failure() const { return failed.load(std::memory_order_acquire); }
  /// Poisons the value; the first failure stays.
  void poison(const FailureRef &why);

  /// For IntrusiveRefCntPtr.
  void Retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  /// Frees the storage with the last reference.
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
  static constexpr uint8_t kCopies = 1, kViews = 2, kExposed = 4, kNoted = 8, kConstant = 16;
  std::atomic<uint8_t> sharing = 0;
  runtime::Block block;
  int64_t size = 0;
  runtime::Device *home = nullptr;
  Cell *cell = nullptr;
  std::atomic<uint64_t> queued = 0;
  std::atomic<uint64_t> lastPrint = 0; // session, version, print
  std::atomic<Failure *> failed = nullptr;
  WriteNoteRef note; // guarded by a mutex of Storage.cpp
  void *owner = nullptr;
  Deleter deleter = nullptr; // null: the block is the device's
  bool readOnly = false;
};

} // namespace tess::eager
