//===- CpuDevice.cpp - the host's processor -------------------------------===//
#include "runtime/device/Allocator.h"
#include "runtime/device/Code.h"
#include "runtime/device/Device.h"
#include "runtime/device/KernelTable.h"
#include "runtime/threads/Cgroup.h"
#include "runtime/threads/ParallelFor.h"

#include <cstdlib>
#include <cstring>
#include <malloc.h>

namespace tess::runtime {

namespace {

class HostSource : public Allocator::Source {
public:
  void *obtain(size_t bytes) override {
    void *data = nullptr;
    return ::posix_memalign(&data, 64, bytes) == 0 ? data : nullptr;
  }
  void giveBack(void *data, size_t) override { std::free(data); }
  void trim() override { ::malloc_trim(0); }
};

/// An event that is always done: calls return only when their work is done.
class CpuEvent : public Event {
public:
  bool done() const override { return true; }
};

class CpuStream : public Stream {
public:
  llvm::Error launch(const KernelLaunch &l) override;
  llvm::Error launchAll(llvm::ArrayRef<KernelLaunch> launches, unsigned parts) override;
  llvm::Error call(const PreparedKernel &kernel, RunContext &context, llvm::ArrayRef<void *> inputs,
                   llvm::ArrayRef<void *> outputs) override {
    return kernel.run(context, inputs, outputs);
  }
  llvm::Error copy(void *destination, const void *source, size_t bytes, unsigned parts) override;
  llvm::Error copyIn(void *destination, const void *host, size_t bytes) override {
    return copy(destination, host, bytes, 1);
  }
  llvm::Error copyOut(void *host, const void *source, size_t bytes) override { return copy(host, source, bytes, 1); }
  llvm::Error record(Event &) override { return llvm::Error::success(); }
  llvm::Error wait(Event &) override { return llvm::Error::success(); }
  llvm::Error synchronize() override { return llvm::Error::success(); }
};

/// Under AddressSanitizer every block comes from the heap, so that an access beyond its end or after its release is
/// reported.
#if TESS_SANITIZE_ADDRESS
constexpr Allocator::Lists kLists = Allocator::Lists::None;
#else
constexpr Allocator::Lists kLists = Allocator::Lists::PerThread;
#endif

/// In a build with a sanitizer, kernels tell it of their accesses.
#if TESS_SANITIZE_ADDRESS || TESS_SANITIZE_THREAD
constexpr llvm::StringLiteral kTarget = "host-checked";
#else
constexpr llvm::StringLiteral kTarget = "host";
#endif

class CpuDevice : public Device {
public:
  // An eighth is left for everything else in the process, so that a request fails before the kernel kills the process.
  CpuDevice() : Device("cpu0", {.hostAccessible = true}), memory(name(), source, kLists) {
    memory.setLimit(availableMemory() / 8 * 7);
  }
  llvm::StringRef target() const override { return kTarget; }
  llvm::StringRef fileTarget() const override { return "host"; }
  ImageKind imageKind() const override { return ImageKind::Loops; }
  llvm::Expected<Block> allocate(size_t bytes) override { return memory.allocate(bytes); }
  void release(Block block) override { memory.free(block); }
  Allocator &allocator() override { return memory; }
  llvm::Expected<LoadedCodeRef> load(const Image &image) override { return CodeImage::map(image); }
  Stream &defaultStream() override { return stream; }
  llvm::Expected<std::unique_ptr<Stream>> createStream() override { return std::make_unique<CpuStream>(); }
  llvm::Expected<std::unique_ptr<Event>> createEvent() override { return std::make_unique<CpuEvent>(); }
  llvm::ArrayRef<KernelDef> kernels() const override { return cpuKernels(); }

private:
  HostSource source;
  Allocator memory;
  CpuStream stream;
};

} // namespace

static void runPart(const KernelLaunch &l, unsigned part) {
  using Split = KernelLaunch::Split;
  auto [begin, end] =
      partOf(part, l.parts, l.by == Split::Outer ? l.outer : l.inner, l.by == Split::Inner ? kLanes : 1);
  if (begin == end)
    return;
  void *scratch = l.by == Split::Chunks ? l.scratch : l.scratchStride ? l.scratch + part * l.scratchStride : nullptr;
  if (l.by == Split::Outer)
    l.run(scratch, begin, end, 0, l.inner);
  else
    l.run(scratch, 0, l.outer, begin, end);
}

static void runWhole(const KernelLaunch &l) { l.run(l.scratch, 0, l.outer, 0, l.inner); }

llvm::Error CpuStream::launch(const KernelLaunch &l) {
  if (l.parts <= 1)
    runWhole(l);
  else
    parallelRun(l.parts, [&](unsigned part) { runPart(l, part); });
  if (l.parts > 1 && l.by == KernelLaunch::Split::Chunks)
    l.run(l.scratch, 0, l.outer, 0, 0);
  return llvm::Error::success();
}

llvm::Error CpuStream::launchAll(llvm::ArrayRef<KernelLaunch> launches, unsigned parts) {
  parallelRun(parts, [&](unsigned part) {
    for (const KernelLaunch &l : launches)
      if (l.parts > 1)
        runPart(l, part);
      else if (l.owner == part)
        runWhole(l);
  });
  return llvm::Error::success();
}

llvm::Error CpuStream::copy(void *destination, const void *source, size_t bytes, unsigned parts) {
  constexpr int64_t kGrain = 4096; // a page
  if (destination == source)
    return llvm::Error::success();
  parallelFor(parts, int64_t(bytes), kGrain, [&](int64_t begin, int64_t end, unsigned) {
    std::memcpy(static_cast<char *>(destination) + begin, static_cast<const char *>(source) + begin,
                size_t(end - begin));
  });
  return llvm::Error::success();
}

Device &hostDevice() {
  static CpuDevice *device = new CpuDevice; // never destroyed: buffers may outlive main
  return *device;
}

} // namespace tess::runtime
