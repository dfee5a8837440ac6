//===- Storage.cpp - the memory that tensors share -----------------------===//
#include "eager/Storage.h"

#include "eager/Pool.h"

#include <new>
#include <utility>

namespace tess::eager {

StorageRef Storage::make() { return StorageRef(new (poolAllocate(sizeof(Storage))) Storage); }

llvm::Expected<StorageRef> Storage::allocate(int64_t bytes, runtime::Device &device) {
  llvm::Expected<runtime::Block> block = device.allocate(size_t(bytes));
  if (!block)
    return block.takeError();
  StorageRef storage = make();
  storage->home = &device;
  storage->block = *block;
  storage->size = bytes;
  return storage;
}

StorageRef Storage::wrap(void *data, int64_t bytes, void *owner, Deleter deleter) {
  StorageRef storage = make();
  storage->home = &runtime::cpuDevice();
  storage->block = {data, 0};
  storage->size = bytes;
  storage->owner = owner;
  storage->deleter = deleter;
  return storage;
}

void Storage::poison(const FailureRef &why) {
  Failure *none = nullptr;
  if (failed.compare_exchange_strong(none, why.get(), std::memory_order_acq_rel))
    why->Retain();
}

void Storage::take(Storage &other) {
  block = std::exchange(other.block, {});
  home = other.home;
  owner = std::exchange(other.owner, nullptr);
  deleter = std::exchange(other.deleter, nullptr);
  if (Failure *why = failed.exchange(nullptr, std::memory_order_acq_rel))
    why->Release();
}

void Storage::destroy() {
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
