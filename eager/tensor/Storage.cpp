//===- Storage.cpp - the memory that tensors share -----------------------===//
#include "eager/tensor/Storage.h"

#include "eager/tensor/BlockPool.h"
#include "eager/tensor/MemoryHooks.h"
#include "runtime/threads/Fork.h"
#include "runtime/threads/Worker.h"

#include <mutex>
#include <new>
#include <utility>

namespace tess::eager {

constinit MemoryHooks memoryHooks;
constinit std::atomic<bool> eviction::active = false;

std::string Failure::text() const {
  std::string where = place.describe(), text = where.empty() ? message : message + ", at " + where;
  for (const FailureRef &cause : causes)
    text += (text.empty() ? "" : "\nalso ") + cause->text();
  return text;
}

void Failure::noteReported() {
  reported = true;
  for (const FailureRef &cause : causes)
    cause->reported = true;
}

FailureRef noValue(ErrorCode code, std::string message) {
  FailureRef failure(new Failure);
  failure->code = code;
  failure->message = std::move(message);
  failure->reported = true;
  return failure;
}

WriteNoteRef writeByHere(llvm::StringRef op) {
  llvm::IntrusiveRefCntPtr<WriteNote> note(new WriteNote);
  note->op = op.str();
  note->place = Location::here();
  return note;
}

std::string WriteNote::text() const {
  std::string where = place.describe();
  return where.empty() ? op : op + " at " + where;
}

/// Guards the notes of all storages. One mutex is enough: writes in place are few, and notes are read only for errors.
static std::mutex &noteMutex() {
  static std::mutex *instance = [] {
    auto *mutex = new std::mutex; // never destroyed: threads may outlive main
    runtime::holdAcrossFork(*mutex);
    return mutex;
  }();
  return *instance;
}
static const runtime::MadeAtLoad<noteMutex> kMade;

void Storage::noteWrite(WriteNoteRef by) {
  std::lock_guard<std::mutex> lock(noteMutex());
  note.swap(by); // the caller drops the old note after the lock is released
  writes.fetch_add(1, std::memory_order_acq_rel);
}

WriteNoteRef Storage::lastWrite() const {
  std::lock_guard<std::mutex> lock(noteMutex());
  return note;
}

bool Storage::matchesPrint(uint16_t session, uint32_t print) {
  uint64_t taken = uint64_t(session) << 48 | uint64_t(uint16_t(version())) << 32 | print;
  uint64_t before = lastPrint.exchange(taken, std::memory_order_relaxed);
  return before == taken || before >> 32 != taken >> 32;
}

StorageRef Storage::make() { return StorageRef(new (poolAllocate(sizeof(Storage))) Storage); }

/// Allocates a block. Queued operators give their memory back when they have run, so a failure is final only after
/// these.
static llvm::Expected<runtime::Block> allocateBlock(size_t bytes, runtime::Device &device) {
  llvm::Expected<runtime::Block> block = device.allocate(bytes);
  if (LLVM_LIKELY(bool(block)))
    return block;
  runtime::Worker &worker = runtime::Worker::global();
  if (worker.onWorkerThread() || worker.idle())
    return block;
  llvm::consumeError(block.takeError());
  if (llvm::Error e = awaitCommand(worker.last()))
    return std::move(e);
  return device.allocate(bytes);
}

/// Allocates a block, as long as something can be evicted for it.
LLVM_ATTRIBUTE_NOINLINE static llvm::Expected<runtime::Block> evictAndAllocate(size_t bytes, runtime::Device &device) {
  if (llvm::Error e = memoryHooks.makeRoom(bytes, device))
    return std::move(e);
  llvm::Expected<runtime::Block> block = allocateBlock(bytes, device);
  while (!block && memoryHooks.evictFor(bytes, device)) {
    llvm::consumeError(block.takeError());
    block = device.allocate(bytes);
  }
  return block;
}

llvm::Expected<StorageRef> Storage::allocate(int64_t bytes, runtime::Device &device) {
  llvm::Expected<runtime::Block> block = LLVM_LIKELY(!eviction::isActive()) ? allocateBlock(size_t(bytes), device)
                                                                            : evictAndAllocate(size_t(bytes), device);
  if (!block)
    return memoryHooks.withLargest ? memoryHooks.withLargest(block.takeError(), device) : block.takeError();
  return own(*block, bytes, device);
}

StorageRef Storage::own(runtime::Block block, int64_t bytes, runtime::Device &device) {
  StorageRef storage = make();
  storage->home = &device;
  storage->block = block;
  storage->size = bytes;
  return storage;
}

StorageRef Storage::wrap(void *data, int64_t bytes, void *owner, Deleter deleter, runtime::Device &device,
                         bool isReadOnly) {
  StorageRef storage = make();
  storage->home = &device;
  storage->block = {data, 0};
  storage->size = bytes;
  storage->owner = owner;
  storage->deleter = deleter;
  storage->readOnly = isReadOnly;
  return storage;
}

void Storage::poison(const FailureRef &why) {
  Failure *none = nullptr;
  if (failed.compare_exchange_strong(none, why.get(), std::memory_order_acq_rel))
    why->Retain();
}

void Storage::take(Storage &other) {
  block = std::exchange(other.block, {});
  size = other.size; // a grown value has more than was known before
  home = other.home;
  owner = std::exchange(other.owner, nullptr);
  deleter = std::exchange(other.deleter, nullptr);
  readOnly = std::exchange(other.readOnly, false);
  if (Failure *why = failed.exchange(nullptr, std::memory_order_acq_rel))
    why->Release();
}

StorageRef Storage::takeFrom(Storage &dying) {
  StorageRef storage = make();
  storage->take(dying);
  return storage;
}

void Storage::evict() { home->release(std::exchange(block, {})); }

void Storage::destroy() {
  if (LLVM_UNLIKELY(cell))
    memoryHooks.noteDeath(*this);
  if (isNoted())
    memoryHooks.forgetLarge(*this);
  if (deleter)
    deleter(owner);
  else if (block.size)
    home->release(block);
  if (Failure *why = failed.load(std::memory_order_relaxed))
    why->Release();
  this->~Storage();
  poolFree(this, sizeof(Storage));
}

} // namespace tess::eager
