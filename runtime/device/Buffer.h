//===- Buffer.h - reference-counted device memory ---------------*- C++ -*-===//
#pragma once

#include "runtime/device/Device.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"

#include <utility>

namespace tess::runtime {

class Buffer;
/// A counted reference; any thread may hold one.
using BufferRef = llvm::IntrusiveRefCntPtr<Buffer>;

/// Memory of one device, given back with the last reference. Thread-safe count.
class Buffer : public llvm::ThreadSafeRefCountedBase<Buffer> {
public:
  /// Fresh memory of at least `bytes`, not cleared.
  static llvm::Expected<BufferRef> allocate(Device &device, size_t bytes) {
    llvm::Expected<Block> block = device.allocate(bytes);
    if (!block)
      return block.takeError();
    return BufferRef(new Buffer(device, *block, bytes));
  }

  /// Frees memory that another library owns.
  using Deleter = void (*)(void *owner);
  /// Memory of another owner; `deleter(owner)` runs with the last reference (null: nothing to do).
  static BufferRef wrap(Device &device, void *data, size_t bytes, void *owner, Deleter deleter) {
    BufferRef buffer(new Buffer(device, {data, 0}, bytes));
    buffer->owner = owner;
    buffer->deleter = deleter;
    return buffer;
  }

  /// The block of a buffer with one reference, which gives it up; its new owner releases it.
  Block take() { return std::exchange(block, {}); }

  ~Buffer() {
    if (deleter)
      deleter(owner);
    else if (block.size)
      deviceRef->release(block);
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  /// The device, the address there, and the bytes that were asked for.
  Device &device() const { return *deviceRef; }
  void *data() const { return block.data; }
  size_t bytes() const { return usedBytes; }
  /// Bytes that the allocator gave; 0 for the memory of another owner.
  size_t capacity() const { return block.size; }

private:
  Buffer(Device &device, Block block, size_t bytes) : deviceRef(&device), block(block), usedBytes(bytes) {}

  Device *deviceRef;
  Block block;
  size_t usedBytes;
  void *owner = nullptr;
  Deleter deleter = nullptr;
};

} // namespace tess::runtime
