//===- NullDevice.h - a device that records calls ---------------*- C++ -*-===//
//
// Computes nothing: proves that the executor works through Device alone, and is
// what a new device is copied from.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/device/Allocator.h"
#include "runtime/device/Device.h"

#include <mutex>

namespace tess::runtime {

/// A device whose memory is host memory and whose streams only write down their calls. Thread-safe.
class NullDevice : public Device {
public:
  explicit NullDevice(std::string name = "null0");
  ~NullDevice() override;

  /// The host's, so that programs compile; their kernels are recorded, not run.
  llvm::StringRef target() const override { return hostDevice().target(); }
  ImageKind imageKind() const override { return hostDevice().imageKind(); }
  llvm::Expected<LoadedCodeRef> load(const Image &image) override;
  llvm::Expected<Block> allocate(size_t bytes) override;
  void release(Block block) override;
  Allocator &allocator() override { return *memory; }
  Stream &defaultStream() override { return *stream; }
  llvm::Expected<std::unique_ptr<Stream>> createStream() override;
  llvm::Expected<std::unique_ptr<Event>> createEvent() override;
  /// The processor's, so that programs bind; they are recorded, not run.
  llvm::ArrayRef<KernelDef> kernels() const override;

  /// Calls since the last take, the first ten thousand, one line each: "allocate 256", "launch outer=2 inner=64
  /// parts=1", "call own:matmul".
  std::vector<std::string> takeCalls();
  /// Writes down a call; for streams.
  void add(std::string call);

private:
  std::unique_ptr<Allocator::Source> source;
  std::unique_ptr<Allocator> memory;
  std::unique_ptr<Stream> stream;
  std::mutex mutex;
  std::vector<std::string> calls;
};

/// The device that users name "null0"; lives for ever.
NullDevice &nullDevice();

} // namespace tess::runtime
