//===- NullDevice.cpp - a device that records calls -----------------------===//
#include "runtime/null/NullDevice.h"
#include "runtime/device/KernelTable.h"

#include <cstdlib>

namespace tess::runtime {

namespace {

/// Provides addresses that tell values apart; nothing is ever read or written there.
class AddressSource : public Allocator::Source {
public:
  void *obtain(size_t bytes) override {
    void *data = nullptr;
    return ::posix_memalign(&data, 64, bytes) == 0 ? data : nullptr;
  }
  void giveBack(void *data, size_t) override { std::free(data); }
};

/// Handles of kernels that are never called.
class NullCode : public LoadedCode {
public:
  explicit NullCode(size_t kernels) { functions.resize(kernels); }
};

class NullEvent : public Event {
public:
  bool done() const override { return recorded; }
  bool recorded = false;
};

class NullStream : public Stream {
public:
  explicit NullStream(NullDevice &device) : device(device) {}
  llvm::Error launch(const KernelLaunch &l) override {
    return note("launch outer=" + std::to_string(l.outer) + " inner=" + std::to_string(l.inner) +
                " parts=" + std::to_string(l.parts));
  }
  llvm::Error call(const PreparedKernel &kernel, RunContext &, llvm::ArrayRef<void *>,
                   llvm::ArrayRef<void *>) override {
    return note("call " + kernel.implementation());
  }
  llvm::Error copy(void *, const void *, size_t bytes, unsigned) override {
    return note("copy " + std::to_string(bytes));
  }
  llvm::Error copyIn(void *, const void *, size_t bytes) override { return note("copy in " + std::to_string(bytes)); }
  llvm::Error copyOut(void *, const void *, size_t bytes) override { return note("copy out " + std::to_string(bytes)); }
  llvm::Error record(Event &event) override {
    static_cast<NullEvent &>(event).recorded = true;
    return note("record");
  }
  llvm::Error wait(Event &) override { return note("wait"); }
  llvm::Error synchronize() override { return note("synchronize"); }

private:
  llvm::Error note(std::string call) {
    device.add(std::move(call));
    return llvm::Error::success();
  }
  NullDevice &device;
};

} // namespace

NullDevice::NullDevice(std::string name)
    : Device(std::move(name), {.computes = false}), source(new AddressSource),
      memory(new Allocator(this->name(), *source, Allocator::Lists::Shared)), stream(new NullStream(*this)) {}

NullDevice::~NullDevice() = default;

llvm::Expected<Block> NullDevice::allocate(size_t bytes) {
  add("allocate " + std::to_string(bytes));
  return memory->allocate(bytes);
}

void NullDevice::release(Block block) {
  add("release " + std::to_string(block.size));
  memory->free(block);
}

llvm::Expected<LoadedCodeRef> NullDevice::load(const Image &image) {
  add("load " + std::to_string(image.entries.size()));
  return std::make_shared<NullCode>(image.entries.size());
}

llvm::Expected<std::unique_ptr<Stream>> NullDevice::createStream() { return std::make_unique<NullStream>(*this); }
llvm::Expected<std::unique_ptr<Event>> NullDevice::createEvent() { return std::make_unique<NullEvent>(); }
llvm::ArrayRef<KernelDef> NullDevice::kernels() const { return cpuKernels(); }

void NullDevice::add(std::string call) {
  constexpr size_t kMostCalls = 10000;
  std::lock_guard<std::mutex> lock(mutex);
  if (calls.size() < kMostCalls)
    calls.push_back(std::move(call));
}

std::vector<std::string> NullDevice::takeCalls() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::move(calls);
}

NullDevice &nullDevice() {
  static NullDevice *device = new NullDevice; // never destroyed: tensors may outlive static objects
  return *device;
}

} // namespace tess::runtime
