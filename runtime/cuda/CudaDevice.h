//===- CudaDevice.h - an NVIDIA GPU as a Device -----------------*- C++ -*-===//
//
// Works in the GPU's primary context, which other libraries of the process
// (PyTorch, NCCL) share. Calls may come from any thread.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cuda/Driver.h"
#include "runtime/device/Allocator.h"
#include "runtime/device/Device.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <shared_mutex>

namespace tess::runtime::cuda {

class CudaDevice;

/// A point in a stream's work on one GPU.
class CudaEvent final : public Event {
public:
  CudaEvent(const CudaDevice &device, CUevent event) : device(device), event(event) {}
  ~CudaEvent() override;
  /// True too when the work before it failed: synchronize() then says why.
  bool done() const override;
  CUevent handle() const { return event; }

private:
  const CudaDevice &device;
  CUevent event;
};

/// A stream of one GPU; independent of the legacy default stream.
class CudaStream final : public Stream {
public:
  CudaStream(const CudaDevice &device, CUstream stream) : device(device), stream(stream) {}
  ~CudaStream() override;
  /// `launch.fn` is a handle that CudaModule::kernel gave; InvalidArgument on any other. One thread per element of
  /// outer * inner, in a grid that fills the GPU; scratch and parts mean nothing here.
  llvm::Error launch(const KernelLaunch &launch) override;
  llvm::Error call(const PreparedKernel &kernel, RunContext &context, llvm::ArrayRef<void *> inputs,
                   llvm::ArrayRef<void *> outputs) override;
  llvm::Error copy(void *destination, const void *source, size_t bytes, unsigned parts) override;
  llvm::Error copyIn(void *destination, const void *host, size_t bytes) override;
  llvm::Error copyOut(void *host, const void *source, size_t bytes) override;
  /// Events must be of the CUDA devices.
  llvm::Error record(Event &event) override;
  llvm::Error wait(Event &event) override;
  llvm::Error synchronize() override;
  CUstream handle() const { return stream; }

private:
  const CudaDevice &device;
  CUstream stream;
};

/// One GPU, with its context and its caching allocator. Thread-safe.
class CudaDevice final : public Device {
public:
  /// GPU number `ordinal`, named "gpu<ordinal>". NotFound when the machine has no driver or not so many GPUs. Streams,
  /// events, modules and memory must be gone before it.
  static llvm::Expected<std::unique_ptr<CudaDevice>> create(int ordinal);
  ~CudaDevice() override;

  llvm::Expected<Block> allocate(size_t bytes) override;
  void release(Block block) override;
  Stream &defaultStream() override { return *stream; }
  llvm::Expected<std::unique_ptr<Stream>> createStream() override;
  llvm::Expected<std::unique_ptr<Event>> createEvent() override;
  /// The host's, between copies.
  llvm::ArrayRef<KernelDef> kernels() const override;
  llvm::StringRef target() const override { return architectureName; }
  ImageKind imageKind() const override { return ImageKind::Ptx; }
  /// PTX, which the driver compiles for this GPU.
  llvm::Expected<LoadedCodeRef> load(const Image &image) override;

  /// The driver, which outlives the device.
  const Driver &driver() const { return *driverRef; }
  /// Makes this GPU's context the calling thread's: before every call of the driver or of a library. Internal in a
  /// child of a fork, whose parent has the context.
  llvm::Error activate() const;
  /// The same for destructors, which cannot report: false when it failed.
  bool tryActivate() const;
  /// "NVIDIA H100 80GB HBM3".
  const std::string &model() const { return modelName; }
  /// What PTX is compiled for: "sm_90".
  const std::string &architecture() const { return architectureName; }
  unsigned multiprocessors() const { return numMultiprocessors; }
  /// Its memory's allocator, for statistics and the byte limit.
  Allocator &allocator() override { return *memory; }

  /// The threads that compute an element together, of a kernel whose launch handle a loaded module of this device gave;
  /// 0: none did.
  unsigned teamOf(KernelFn handle) const;

private:
  friend class CudaModule;
  class MemorySource;

  CudaDevice(const Driver &driver, int ordinal);
  llvm::Error start(int ordinal);
  llvm::Expected<CUstream> makeStream() const;
  void addKernel(KernelFn handle, unsigned team);
  void removeKernel(KernelFn handle);

  bool isForked() const;
  llvm::Error checkOwner() const;

  const Driver *driverRef;
  const int owner; // the process that made the context
  CUdevice device = 0;
  CUcontext context = nullptr;
  std::string modelName, architectureName;
  unsigned numMultiprocessors = 0;
  std::unique_ptr<MemorySource> source;
  std::unique_ptr<Allocator> memory;
  std::unique_ptr<CudaStream> stream;
  mutable std::shared_mutex kernelMutex;
  llvm::DenseMap<const void *, unsigned> loadedKernels; // teams of CUfunctions, which the launch handles are
};

/// GPU number `ordinal` of this process: made on first use, lives for ever. Errors as CudaDevice::create.
llvm::Expected<CudaDevice *> cudaDevice(int ordinal);

} // namespace tess::runtime::cuda
