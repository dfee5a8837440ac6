//===- CudaDevice.cpp - an NVIDIA GPU as a Device -------------------------===//
#include "runtime/cuda/CudaDevice.h"

#include "ops/vocabulary/Error.h"
#include "runtime/cpu/HostKernels.h"

#include <map>
#include <unistd.h>

namespace tess::runtime::cuda {

/// Source of the allocator's memory. cuMemAlloc aligns to at least 256 bytes.
class CudaDevice::MemorySource final : public Allocator::Source {
public:
  explicit MemorySource(const CudaDevice &device) : device(device) {}

  void *obtain(size_t bytes) override {
    CUdeviceptr data = 0;
    bool done = device.tryActivate() && device.driver().cuMemAlloc_v2(&data, bytes) == CUDA_SUCCESS;
    return done ? reinterpret_cast<void *>(data) : nullptr;
  }

  void giveBack(void *data, size_t bytes) override {
    if (device.tryActivate())
      device.driver().cuMemFree_v2(reinterpret_cast<CUdeviceptr>(data)); // fails only after a failure that was reported
  }

private:
  const CudaDevice &device;
};

CudaDevice::CudaDevice(const Driver &driver, int ordinal)
    : Device("gpu" + std::to_string(ordinal), {}), driverRef(&driver), owner(::getpid()),
      source(std::make_unique<MemorySource>(*this)),
      memory(std::make_unique<Allocator>(name(), *source, Allocator::Lists::Shared)) {}

CudaDevice::~CudaDevice() {
  if (!context)
    return;
  if (tryActivate())
    driverRef->cuCtxSynchronize(); // synchronize() has reported its errors
  stream.reset();
  memory.reset();
  driverRef->cuDevicePrimaryCtxRelease_v2(device);
}

bool CudaDevice::isForked() const { return ::getpid() != owner; }

bool CudaDevice::tryActivate() const { return !isForked() && driverRef->cuCtxSetCurrent(context) == CUDA_SUCCESS; }

llvm::Error CudaDevice::checkOwner() const {
  if (!isForked())
    return llvm::Error::success();
  return makeError(ErrorCode::Internal,
                   name() +
                       ": device was lost (in a fork, whose parent has it; a process that is spawned has its own)");
}

llvm::Error CudaDevice::activate() const {
  if (llvm::Error error = checkOwner())
    return error;
  return driverRef->check(driverRef->cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

llvm::Expected<std::unique_ptr<CudaDevice>> CudaDevice::create(int ordinal) {
  llvm::Expected<const Driver *> driver = Driver::get();
  if (!driver)
    return driver.takeError();
  llvm::Expected<int> count = (*driver)->deviceCount();
  if (!count)
    return count.takeError();
  if (ordinal < 0 || ordinal >= *count)
    return makeError(ErrorCode::NotFound, "cuda: a GPU's number must be below the " + llvm::Twine(*count) +
                                              " of this machine, got " + llvm::Twine(ordinal));
  std::unique_ptr<CudaDevice> device(new CudaDevice(**driver, ordinal));
  if (llvm::Error error = device->start(ordinal))
    return error;
  return device;
}

llvm::Error CudaDevice::start(int ordinal) {
  const Driver &d = *driverRef;
  if (llvm::Error error = d.check(d.cuDeviceGet(&device, ordinal), "cuDeviceGet"))
    return error;
  llvm::Expected<GpuFacts> facts = d.facts(ordinal);
  if (!facts)
    return facts.takeError();
  modelName = facts->model;
  architectureName = facts->architecture();
  int units = 0;
  if (llvm::Error error = d.check(d.cuDeviceGetAttribute(&units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
                                  "cuDeviceGetAttribute"))
    return error;
  numMultiprocessors = unsigned(units);
  if (llvm::Error error = d.check(d.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain"))
    return error;
  llvm::Expected<CUstream> made = makeStream();
  if (!made)
    return made.takeError();
  stream = std::make_unique<CudaStream>(*this, *made);
  return llvm::Error::success();
}

llvm::Expected<Block> CudaDevice::allocate(size_t bytes) {
  if (llvm::Error error = checkOwner()) // before an error of too little memory
    return std::move(error);
  return memory->allocate(bytes);
}

void CudaDevice::release(Block block) { memory->free(block); }

llvm::ArrayRef<KernelDef> CudaDevice::kernels() const { return hostKernels(); }

llvm::Expected<CUstream> CudaDevice::makeStream() const {
  if (llvm::Error error = activate())
    return error;
  CUstream made = nullptr;
  if (llvm::Error error = driverRef->check(driverRef->cuStreamCreate(&made, CU_STREAM_NON_BLOCKING), "cuStreamCreate"))
    return error;
  return made;
}

llvm::Expected<std::unique_ptr<Stream>> CudaDevice::createStream() {
  llvm::Expected<CUstream> made = makeStream();
  if (!made)
    return made.takeError();
  return std::make_unique<CudaStream>(*this, *made);
}

llvm::Expected<std::unique_ptr<Event>> CudaDevice::createEvent() {
  if (llvm::Error error = activate())
    return error;
  CUevent event = nullptr;
  if (llvm::Error error = driverRef->check(driverRef->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate"))
    return error;
  return std::make_unique<CudaEvent>(*this, event);
}

unsigned CudaDevice::teamOf(KernelFn handle) const {
  std::shared_lock<std::shared_mutex> lock(kernelMutex);
  return loadedKernels.lookup(reinterpret_cast<const void *>(handle));
}

void CudaDevice::addKernel(KernelFn handle, unsigned team) {
  std::unique_lock<std::shared_mutex> lock(kernelMutex);
  loadedKernels[reinterpret_cast<const void *>(handle)] = team;
}

void CudaDevice::removeKernel(KernelFn handle) {
  std::unique_lock<std::shared_mutex> lock(kernelMutex);
  loadedKernels.erase(reinterpret_cast<const void *>(handle));
}

llvm::Expected<CudaDevice *> cudaDevice(int ordinal) {
  static std::mutex mutex;
  static auto *devices = new std::map<int, std::unique_ptr<CudaDevice>>(); // never destroyed: the driver may go first
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<CudaDevice> &slot = (*devices)[ordinal];
  if (!slot) {
    llvm::Expected<std::unique_ptr<CudaDevice>> made = CudaDevice::create(ordinal);
    if (!made)
      return made.takeError();
    slot = std::move(*made);
  }
  return slot.get();
}

} // namespace tess::runtime::cuda
